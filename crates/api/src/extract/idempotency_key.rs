//! The header by which a request may be sent again without acting again.

use crate::error::{Problem, Violation};
use crate::limits::IDEMPOTENCY_KEY_CHARACTERS;
use axum::extract::FromRequestParts;
use axum::http::HeaderMap;
use axum::http::request::Parts;

const NAME: &str = "Idempotency-Key";

/// The key, if there is one, or the rule that it breaks; which is told with whatever else is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct IdempotencyKey(pub(crate) Result<Option<String>, Violation>);

/// UTF-8 without control characters.
fn key(headers: &HeaderMap) -> Result<Option<String>, (&'static str, String)> {
    let mut values = headers.get_all(NAME).iter();
    let Some(value) = values.next() else {
        return Ok(None);
    };
    if values.next().is_some() {
        return Err(("repeated", "may be given once only".to_owned()));
    }
    let text = std::str::from_utf8(value.as_bytes()).ok();
    let Some(text) = text.filter(|it| !it.contains(char::is_control)) else {
        let rule = "must be UTF-8 without control characters";
        return Err(("not_text", rule.to_owned()));
    };
    match text.chars().count() {
        0 => Err(("too_short", "must have a character".to_owned())),
        1..=IDEMPOTENCY_KEY_CHARACTERS => Ok(Some(text.to_owned())),
        _ => {
            let rule = format!("must have at most {IDEMPOTENCY_KEY_CHARACTERS} characters");
            Err(("too_long", rule))
        }
    }
}

impl<S: Send + Sync> FromRequestParts<S> for IdempotencyKey {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        let key = key(&parts.headers);
        Ok(Self(key.map_err(|(code, rule)| {
            Violation::new(format!("/{NAME}"), code, format!("{NAME} {rule}"))
        })))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::http::HeaderValue;

    #[test]
    fn a_key_has_one_to_255_characters_and_comes_once() {
        let check = |values: &[&[u8]], expected: Result<Option<&str>, &str>| {
            let mut headers = HeaderMap::new();
            for value in values {
                headers.append(NAME, HeaderValue::from_bytes(value).unwrap());
            }
            let found = key(&headers);
            let found = found.as_ref().map(Option::as_deref).map_err(|it| it.0);
            assert_eq!(found, expected, "{values:?}");
        };
        check(&[], Ok(None));
        check(&[b"x"], Ok(Some("x")));
        check(&[b"\"a b\", c"], Ok(Some("\"a b\", c")));
        let longest = "é".repeat(255);
        check(&[longest.as_bytes()], Ok(Some(&longest)));
        check(&["é".repeat(256).as_bytes()], Err("too_long"));
        check(&[b""], Err("too_short"));
        check(&[b"a\tb"], Err("not_text"));
        check(&[b"\xff"], Err("not_text"));
        check(&[b"x", b"x"], Err("repeated"));
    }
}
