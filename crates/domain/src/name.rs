//! What people may call things: the one rule for the texts that an operator gives.

/// Longest text, in characters: longer than any name is, and short enough for every index.
const LONGEST: usize = 200;

/// Checks a name: 1 to 200 characters, no control characters, not only spaces.
///
/// # Errors
/// What is expected instead.
pub fn check_name(text: &str) -> Result<(), &'static str> {
    if text.trim().is_empty() {
        return Err("expected a text that is not empty");
    }
    check_note(text)
}

/// Checks a text that may be empty: at most 200 characters, no control characters.
///
/// # Errors
/// What is expected instead.
pub fn check_note(text: &str) -> Result<(), &'static str> {
    if text.chars().any(char::is_control) {
        return Err("expected a text without control characters");
    }
    if text.chars().count() > LONGEST {
        return Err("expected at most 200 characters");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_short_printable_and_not_empty() {
        let longest = "é".repeat(LONGEST);
        for good in ["a", "Main meter", "Straße 1 — Süd", " a ", "日本", &longest] {
            assert_eq!(check_name(good), Ok(()), "{good:?}");
        }
        let too_long = "é".repeat(LONGEST + 1);
        for (bad, rule) in [
            ("", "not empty"),
            (" \u{a0}", "not empty"),
            ("a\0b", "control"),
            ("a\nb", "control"),
            ("a\u{9b}b", "control"),
            (&too_long, "at most 200"),
        ] {
            assert!(check_name(bad).unwrap_err().contains(rule), "{bad:?}");
        }
        assert_eq!(check_note(""), Ok(()));
        assert!(check_note("\0").is_err());
    }
}
