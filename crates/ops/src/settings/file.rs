//! The optional TOML file.

use super::error::SettingsError;
use super::kind::Raw;
use super::{Origin, Setting};
use std::collections::BTreeMap;
use std::path::Path;
use toml::Value;

/// Reads the values of the file by key. An error tells the line at most, never its content, which may
/// be a secret.
pub(super) fn read(table: &[Setting], path: &Path) -> Result<BTreeMap<String, Raw>, SettingsError> {
    let text = std::fs::read_to_string(path)
        .map_err(|error| SettingsError::config(path, &format!("a readable file ({error})")))?;
    let parsed: toml::Table = text.parse().map_err(|error: toml::de::Error| {
        SettingsError::config(path, &format!("TOML, but {} is not", place(&text, &error)))
    })?;
    parsed
        .into_iter()
        .map(|(key, value)| {
            if !table.iter().any(|setting| setting.has_key(&key)) {
                return Err(SettingsError::unknown_key(&key, path));
            }
            let raw = raw(value).ok_or_else(|| {
                let expected = "a text, a whole number or an array of texts".to_owned();
                SettingsError::unacceptable(&key, Origin::File(path.to_owned()), expected)
            })?;
            Ok((key, raw))
        })
        .collect()
}

impl Setting {
    /// Whether a key of the file is this setting's: its own or, for a secret, the one with `_file`.
    fn has_key(&self, key: &str) -> bool {
        key == self.key || (self.secret && key.strip_suffix("_file") == Some(self.key))
    }
}

fn place(text: &str, error: &toml::de::Error) -> String {
    let before = error
        .span()
        .and_then(|span| text.as_bytes().get(..span.start));
    match before {
        Some(before) => {
            let line = before.iter().filter(|byte| **byte == b'\n').count() + 1;
            format!("line {line}")
        }
        None => "it".to_owned(),
    }
}

fn raw(value: Value) -> Option<Raw> {
    match value {
        Value::String(text) => Some(Raw::Text(text)),
        Value::Integer(number) => Some(Raw::Text(number.to_string())),
        Value::Array(items) => {
            let text = |item: Value| item.as_str().map(str::to_owned);
            items
                .into_iter()
                .map(text)
                .collect::<Option<_>>()
                .map(Raw::Items)
        }
        Value::Float(_) | Value::Boolean(_) | Value::Datetime(_) | Value::Table(_) => None,
    }
}
