//! Finding a setting's value: flag, environment, file, default.

use super::error::{self, SettingsError};
use super::kind::{Raw, Value};
use super::redaction::excerpt;
use super::{Origin, Setting};
use std::collections::BTreeMap;
use std::path::Path;

/// Where values come from.
pub(super) struct Sources<'a> {
    pub(super) flags: &'a BTreeMap<String, String>,
    pub(super) environment: &'a dyn Fn(&str) -> Option<String>,
    pub(super) file: &'a BTreeMap<String, Raw>,
    /// The path of `file`.
    pub(super) config: &'a Path,
}

/// A value as it was given, and where.
type Given = (Raw, Origin);

impl Sources<'_> {
    /// The value from the first source that has one, checked.
    pub(super) fn find(&self, setting: &Setting) -> Result<Option<(Value, Origin)>, SettingsError> {
        for source in [Self::flag, Self::variable, Self::key] {
            let direct = source(self, setting.key);
            let by_file = if setting.secret {
                source(self, &format!("{}_file", setting.key))
            } else {
                None
            };
            let given = match (direct, by_file) {
                (None, None) => continue,
                (Some(given), None) => given,
                (None, Some(given)) => content(setting, given)?,
                (Some(_), Some((_, origin))) => {
                    let expected = format!("no {0}_file, since {0} is given as well", setting.key);
                    return Err(SettingsError::unacceptable(setting.key, origin, expected));
                }
            };
            return checked(setting, given).map(Some);
        }
        let default = setting
            .default
            .map(|text| (Raw::Text(text.to_owned()), Origin::Default));
        default.map(|given| checked(setting, given)).transpose()
    }

    fn flag(&self, key: &str) -> Option<Given> {
        let value = self.flags.get(key)?.clone();
        Some((Raw::Text(value), Origin::Flag(error::flag(key))))
    }

    /// An empty variable counts as not given: process managers pass those on.
    fn variable(&self, key: &str) -> Option<Given> {
        let name = error::variable(key);
        let value = (self.environment)(&name).filter(|value| !value.is_empty())?;
        Some((Raw::Text(value), Origin::Environment(name)))
    }

    fn key(&self, key: &str) -> Option<Given> {
        let raw = self.file.get(key)?.clone();
        Some((raw, Origin::File(self.config.to_owned())))
    }
}

/// The content of the file that holds a secret, without the line end that editors put behind it.
fn content(setting: &Setting, (path, origin): Given) -> Result<Given, SettingsError> {
    // The path is not shown: somebody may have put the secret itself in its place.
    let refuse = |why: String| {
        let expected = format!("the path of a readable file that holds it{why}");
        SettingsError::unacceptable(setting.key, origin.clone(), expected)
    };
    let Raw::Text(path) = path else {
        return Err(refuse(String::new()));
    };
    let text = std::fs::read_to_string(path).map_err(|error| refuse(format!(" ({error})")))?;
    let line = text.strip_suffix('\n').unwrap_or(&text);
    let line = line.strip_suffix('\r').unwrap_or(line);
    Ok((Raw::Text(line.to_owned()), origin))
}

fn checked(setting: &Setting, (raw, origin): Given) -> Result<(Value, Origin), SettingsError> {
    let found = match &raw {
        Raw::Text(text) if setting.kind.is_plain() && !setting.secret => Some(excerpt(text)),
        Raw::Text(_) | Raw::Items(_) => None,
    };
    if let Some(value) = setting.kind.read(raw) {
        return Ok((value, origin));
    }
    let expected = setting.kind.expectation();
    Err(match found {
        Some(found) => SettingsError::found(setting.key, origin, &expected, &found),
        None => SettingsError::unacceptable(setting.key, origin, expected),
    })
}
