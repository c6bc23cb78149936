//! Any fleet file: read or refused in one line that repeats no password.

use serde_json::Value;
use wattline::fleet_file::FleetFile;

/// Asserts it.
pub fn check(input: &[u8]) {
    // A file that is no text is refused before.
    let Ok(text) = std::str::from_utf8(input) else {
        return;
    };
    let Err(told) = FleetFile::parse(text) else {
        return;
    };
    assert!(!told.is_empty());
    let document: Value = serde_json::from_str(text).unwrap_or_default();
    let users = document["users"].as_array().into_iter().flatten();
    let passwords = users.filter_map(|it| it["password"].as_str());
    // Short ones are found in any words.
    for password in passwords.filter(|it| it.len() > 12) {
        let a_key = text.matches(password).count() > 1;
        assert!(a_key || !told.contains(password), "{told}");
    }
}
