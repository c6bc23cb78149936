//! A command's own output, on standard output; logs go to standard error.

use std::io::{self, Write as _};

/// Writes one line at once, so that a reader at the other end of a pipe sees it.
///
/// # Errors
/// When nobody reads any more.
pub(crate) fn line(text: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    writeln!(out, "{text}")?;
    out.flush()
}

/// Writes one line that has other people's texts in it. Control characters stand there as JSON writes them: so no text
/// ends the line early or moves a terminal's cursor, and what is JSON stays the same JSON.
pub(crate) fn foreign_line(text: &str) -> io::Result<()> {
    line(&visible(text))
}

/// The text with its control characters as JSON writes them.
pub(crate) fn visible(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for character in text.chars() {
        if character.is_control() {
            shown.push_str(&format!("\\u{:04x}", u32::from(character)));
        } else {
            shown.push(character);
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    #[test]
    fn control_characters_are_shown_and_json_stays_what_it_is() {
        assert_eq!(
            visible("a\nb\u{1b}[31m\u{9b}é"),
            r"a\u000ab\u001b[31m\u009bé"
        );
        let value = json!({"pointer": "/a\n\u{1b}]0;x\u{7}\u{9b}\u{7f}"});
        let line = visible(&value.to_string());
        assert!(!line.contains(char::is_control), "{line}");
        assert_eq!(serde_json::from_str::<Value>(&line).unwrap(), value);
    }
}
