use super::*;
use TokenKind::{Access, Refresh};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::{Value, json};

const NOW: Timestamp = Timestamp::from_seconds(1_700_000_000);
const OLD: &str = "old AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=";
const NEW: &str = "new AQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQE=";

fn keys(lines: &[&str]) -> Keys {
    Keys::parse(&lines.join("\n")).unwrap()
}

fn part(token: &str, index: usize) -> Value {
    let part = token.split('.').nth(index).unwrap();
    serde_json::from_slice(&URL_SAFE_NO_PAD.decode(part).unwrap()).unwrap()
}

#[test]
fn a_token_says_what_the_interface_promises() {
    let issued = keys(&[NEW, OLD]).issue(Refresh, "ada", NOW).unwrap();
    let header = part(&issued.token, 0);
    assert_eq!(header, json!({"typ": "JWT", "alg": "HS256", "kid": "new"}));
    let expected = json!({
        "token_type": "refresh", "typ": "refresh", "sub": "ada", "jti": issued.jti,
        "iat": 1_700_000_000, "exp": 1_700_000_000 + 60 * 86_400,
        "iss": "wattline", "aud": "wattline-public-api",
    });
    assert_eq!(part(&issued.token, 1), expected);
    assert_eq!(issued.expires_at.seconds(), 1_700_000_000 + 60 * 86_400);
}

#[test]
fn a_token_is_worth_something_until_its_last_microsecond() {
    let keys = keys(&[NEW]);
    let check = |kind, lifetime_s: i64| {
        let issued = keys.issue(kind, "ada", NOW).unwrap();
        let end = Timestamp::from_seconds(NOW.seconds() + lifetime_s);
        let last = Timestamp::from_micros(end.micros() - 1);
        assert_eq!(keys.verify(kind, &issued.token, last).unwrap().sub, "ada");
        let late = keys.verify(kind, &issued.token, end);
        assert_eq!(late, Err(TokenRefusal::Expired));
    };
    check(Access, 15 * 60);
    check(Refresh, 60 * 86_400);
}

#[test]
fn one_kind_is_never_taken_for_the_other() {
    let keys = keys(&[NEW]);
    let access = keys.issue(Access, "ada", NOW).unwrap();
    let refresh = keys.issue(Refresh, "ada", NOW).unwrap();
    assert_eq!(
        keys.verify(Refresh, &access.token, NOW),
        Err(TokenRefusal::WrongKind)
    );
    assert_eq!(
        keys.verify(Access, &refresh.token, NOW),
        Err(TokenRefusal::WrongKind)
    );
}

#[test]
fn an_older_key_still_verifies_and_a_removed_one_does_not() {
    let token = keys(&[OLD]).issue(Access, "ada", NOW).unwrap().token;
    assert!(keys(&[NEW, OLD]).verify(Access, &token, NOW).is_ok());
    assert_eq!(
        keys(&[NEW]).verify(Access, &token, NOW),
        Err(TokenRefusal::UnknownKey)
    );
    // The same id with another secret.
    let impostor = NEW.replace("new", "old");
    let impostor = keys(&[&impostor]);
    assert_eq!(
        impostor.verify(Access, &token, NOW),
        Err(TokenRefusal::NotOurs)
    );
}

#[test]
fn what_was_not_signed_here_for_this_is_refused() {
    let keys = keys(&[NEW]);
    let signed = |algorithm, kid: Option<&str>, change: &dyn Fn(&mut Value)| {
        let mut header = Header::new(algorithm);
        header.kid = kid.map(str::to_owned);
        let mut claims = part(&keys.issue(Access, "ada", NOW).unwrap().token, 1);
        change(&mut claims);
        jsonwebtoken::encode(&header, &claims, &keys.0.newest.signs).unwrap()
    };
    let refused = |token: &str| {
        assert_eq!(
            keys.verify(Access, token, NOW),
            Err(TokenRefusal::NotOurs),
            "{token}"
        );
    };
    let unchanged = |_: &mut Value| {};
    assert!(
        keys.verify(Access, &signed(ALGORITHM, Some("new"), &unchanged), NOW)
            .is_ok()
    );
    refused(&signed(Algorithm::HS512, Some("new"), &unchanged));
    let other = signed(ALGORITHM, Some("other"), &unchanged);
    let unknown = keys.verify(Access, &other, NOW);
    assert_eq!(unknown, Err(TokenRefusal::UnknownKey));
    refused(&signed(ALGORITHM, None, &unchanged));
    for claim in ["iss", "aud", "sub", "exp", "iat", "jti", "token_type"] {
        let without = |claims: &mut Value| {
            claims.as_object_mut().unwrap().remove(claim);
        };
        refused(&signed(ALGORITHM, Some("new"), &without));
    }
    for claim in ["iss", "aud"] {
        refused(&signed(ALGORITHM, Some("new"), &|claims| {
            claims[claim] = json!("another")
        }));
    }
    for token in ["", "x", "a.b.c", "..", "é.é.é"] {
        refused(token);
    }
    let unsigned = signed(ALGORITHM, Some("new"), &unchanged);
    let (message, _) = unsigned.rsplit_once('.').unwrap();
    refused(&format!("{message}."));
    let none = URL_SAFE_NO_PAD.encode(r#"{"alg":"none","typ":"JWT","kid":"new"}"#);
    refused(&format!("{none}.{}.", message.split('.').nth(1).unwrap()));
}
