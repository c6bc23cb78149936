//! What of a value may be shown.

/// What stands in place of what is not shown.
const HIDDEN: &str = "***";

/// The longest stretch of a value that an error repeats: enough to recognise it.
const SHOWN_CHARACTERS: usize = 80;

/// A value without user and password of a URL and without the values of its query, which may hold a
/// password as well.
///
/// It goes by the last `@`, so that a password with reserved characters in it is hidden too, at the
/// cost of hiding more of a URL with an `@` behind its host.
pub(super) fn redacted(value: &str) -> String {
    let (scheme, rest) = match value.split_once("://") {
        Some((scheme, rest)) => (format!("{scheme}://"), rest),
        None => (String::new(), value),
    };
    // What is left of an `@` without `://` may be a URL with a typing error in its scheme.
    let (scheme, rest, user) = match rest.rsplit_once('@') {
        Some((_, rest)) => (scheme, rest, "***@"),
        None => (scheme, rest, ""),
    };
    let place = match rest.split_once('?') {
        Some((place, query)) => format!("{place}?{}", hidden_values(query)),
        None => rest.to_owned(),
    };
    format!("{scheme}{user}{place}")
}

fn hidden_values(query: &str) -> String {
    let hidden = query.split('&').map(hidden_pair);
    hidden.collect::<Vec<_>>().join("&")
}

/// `key=value` without its value.
pub(super) fn hidden_pair(pair: &str) -> String {
    match pair.split_once('=') {
        Some((key, _)) => format!("{key}={HIDDEN}"),
        None => HIDDEN.to_owned(),
    }
}

/// The start of a value that an error may repeat.
pub(super) fn excerpt(value: &str) -> String {
    redacted(value).chars().take(SHOWN_CHARACTERS).collect()
}

/// A text without line ends and other control characters.
pub(super) fn one_line(text: &str) -> String {
    let visible = |character: char| {
        if character.is_control() {
            ' '
        } else {
            character
        }
    };
    text.chars().map(visible).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_of_user_and_password_is_left_of_a_url() {
        for (url, shown) in [
            ("mqtt://127.0.0.1:1883", "mqtt://127.0.0.1:1883"),
            ("mqtts://ada:pw@broker:8883", "mqtts://***@broker:8883"),
            (
                "postgres://ada:p@w/d?x@db/wattline",
                "postgres://***@db/wattline",
            ),
            ("postgres:/ada:pw@db/wattline", "***@db/wattline"),
            (
                "postgres://db/w?user=ada&password=pw",
                "postgres://db/w?user=***&password=***",
            ),
            ("postgres://db/w?pw", "postgres://db/w?***"),
        ] {
            assert_eq!(redacted(url), shown);
        }
    }
}
