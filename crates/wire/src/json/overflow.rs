//! Numbers that no double can hold, such as `1e400`: JSON's reader stops at them, so that they are
//! replaced before a document is read again.

/// Stands for an overflowing number: an integer by JSON Schema and within every bound. Its exponent
/// keeps what follows from joining it (`1e400.5` must not become `0.5`); the sign stays before it.
pub(crate) const ZERO: &str = "0.0e0";

/// Another harmless number, by which the place of an overflowing one is found.
pub(crate) const ONE: &str = "1.0e0";

/// A number that is out of every range that anybody has.
pub(crate) const HUGE: &str = "1e308";

/// The document with every overflowing number outside texts replaced; none where there is none.
pub(crate) fn neutralized(document: &[u8], replacement: &str) -> Option<Vec<u8>> {
    let mut neutral = Vec::with_capacity(document.len());
    let mut rest = document;
    let mut replaced = false;
    while let Some(first) = rest.first() {
        let length = match first {
            b'"' => text_length(rest),
            b'0'..=b'9' => number_length(rest),
            _ => 1,
        };
        let (token, after) = rest.split_at(length);
        rest = after;
        if first.is_ascii_digit() && overflows(token) {
            neutral.extend_from_slice(replacement.as_bytes());
            replaced = true;
        } else {
            neutral.extend_from_slice(token);
        }
    }
    replaced.then_some(neutral)
}

/// The length of the text that starts `rest`, quotes included; of all of it where it has no end.
fn text_length(rest: &[u8]) -> usize {
    let mut escaped = true;
    let end = rest.iter().position(|byte| {
        let ends = *byte == b'"' && !escaped;
        escaped = *byte == b'\\' && !escaped;
        ends
    });
    end.map_or(rest.len(), |end| end + 1)
}

/// The length of the number that starts `rest` with a digit, by JSON's grammar without the sign.
fn number_length(rest: &[u8]) -> usize {
    let digits = |from: usize| {
        let tail = rest.iter().skip(from);
        tail.take_while(|byte| byte.is_ascii_digit()).count()
    };
    let mut length = if rest.first() == Some(&b'0') {
        1
    } else {
        digits(0)
    };
    if rest.get(length) == Some(&b'.') {
        let fraction = digits(length + 1);
        if fraction == 0 {
            return length;
        }
        length += 1 + fraction;
    }
    if matches!(rest.get(length), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(rest.get(length + 1), Some(b'+' | b'-')));
        let exponent = digits(length + 1 + sign);
        if exponent > 0 {
            length += 1 + sign + exponent;
        }
    }
    length
}

fn overflows(number: &[u8]) -> bool {
    let value = std::str::from_utf8(number).map(str::parse::<f64>);
    matches!(value, Ok(Ok(value)) if value.is_infinite())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::parse;

    #[test]
    fn only_overflowing_numbers_outside_texts_are_replaced() {
        let check = |payload: &str, expected: Option<&str>| {
            let neutral = neutralized(payload.as_bytes(), ZERO);
            assert_eq!(neutral.as_deref(), expected.map(str::as_bytes), "{payload}");
        };
        check("[1e308,0e999,1e-400]", None);
        check(r#"["1e400","\"1e400"]"#, None);
        check("[1e400]", Some("[0.0e0]"));
        check("[-1E+400,2]", Some("[-0.0e0,2]"));
        check(r#"{"a\\":1.5e400}"#, Some(r#"{"a\\":0.0e0}"#));
        check(&"9".repeat(400), Some("0.0e0"));
        check("\"1e400", None);
    }

    #[test]
    fn no_broken_document_becomes_a_whole_one() {
        for payload in [
            "1e400.5",
            "01e400",
            "--1e400",
            "1e400e5",
            "1e400 1",
            "+1e400",
            ".1e400",
            "1.1e400.1",
            "1e4001e400",
            "-1e400-1",
            "1e400x",
        ] {
            for replacement in [ZERO, ONE, HUGE] {
                let neutral = neutralized(payload.as_bytes(), replacement).unwrap();
                assert!(parse(&neutral).is_err(), "{payload} {replacement}");
            }
        }
    }
}
