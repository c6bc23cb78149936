//! Settings: a flag, an environment variable, a key of the file, a default, in that order.
//!
//! A binary gives one table of [`Setting`]s. [`Settings::load`] checks every value that is given, so
//! what a getter returns is right; a getter fails only when a required value is missing.

mod arguments;
mod error;
mod file;
mod kind;
mod redaction;
mod sources;

pub use arguments::{arguments, config_path, flags};
pub use error::{Origin, SettingsError};
pub use kind::{Kind, parse_duration};

use ipnet::IpNet;
use kind::Value;
use sources::Sources;
use std::collections::BTreeMap;
use std::fmt;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// One setting of a binary.
#[derive(Clone, Copy, Debug)]
pub struct Setting {
    /// The key in the file, such as `database_url`; flag and variable follow from it.
    pub key: &'static str,
    /// What it means, for `--help`.
    pub help: &'static str,
    /// The value when none is given; without it, the setting is required by whoever reads it with
    /// a getter that is not optional.
    pub default: Option<&'static str>,
    /// What its values look like.
    pub kind: Kind,
    /// Whether its value is never shown. A secret may also be given as a file that holds it, by the
    /// same names with `_file`.
    pub secret: bool,
}

/// The settings of a process, checked.
pub struct Settings(Vec<Entry>);

struct Entry {
    setting: &'static Setting,
    /// The value and where it is from; nothing when it is not given and has no default.
    found: Option<(Value, Origin)>,
}

/// Reads the real environment: the one place that does. A value that is not UTF-8 has its broken
/// characters replaced, and is then refused by whatever checks it.
#[expect(
    clippy::disallowed_methods,
    reason = "this is the one place that reads the environment"
)]
pub fn environment() -> impl Fn(&str) -> Option<String> {
    |name| std::env::var_os(name).map(|value| value.to_string_lossy().into_owned())
}

impl Setting {
    /// The flag without its dashes, such as `database-url`.
    #[must_use]
    pub fn flag(&self) -> String {
        error::flag(self.key)
    }

    /// The environment variable, such as `WATTLINE_DATABASE_URL`.
    #[must_use]
    pub fn variable(&self) -> String {
        error::variable(self.key)
    }
}

impl Settings {
    /// Finds and checks the value of every setting of the table.
    ///
    /// `flags` are values by key, as [`flags`] finds them; `config` is the optional TOML file. An
    /// environment variable that is empty counts as not given.
    ///
    /// # Errors
    /// The first value that is not what its setting expects; a key of the file that is no setting; a
    /// file that cannot be read.
    pub fn load(
        table: &'static [Setting],
        flags: &BTreeMap<String, String>,
        config: Option<&Path>,
        environment: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Self, SettingsError> {
        let file = match config {
            Some(path) => file::read(table, path)?,
            None => BTreeMap::new(),
        };
        let sources = Sources {
            flags,
            environment,
            file: &file,
            config: config.unwrap_or(Path::new("")),
        };
        let entry = |setting| {
            let found = sources.find(setting)?;
            Ok(Entry { setting, found })
        };
        Ok(Self(table.iter().map(entry).collect::<Result<_, _>>()?))
    }

    /// As [`Settings::load`], with flags and file from a command line that has [`arguments`].
    ///
    /// # Errors
    /// As [`Settings::load`].
    pub fn from_matches(
        table: &'static [Setting],
        matches: &clap::ArgMatches,
        environment: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Self, SettingsError> {
        let config = config_path(matches);
        Self::load(
            table,
            &flags(table, matches),
            config.as_deref(),
            environment,
        )
    }

    /// A text, a URL or a choice.
    ///
    /// # Errors
    /// It is not given.
    pub fn text(&self, key: &str) -> Result<String, SettingsError> {
        self.required(key, Value::text)
    }

    /// A text, a URL or a choice that may be left out.
    #[must_use]
    pub fn optional_text(&self, key: &str) -> Option<String> {
        self.optional(key, Value::text)
    }

    /// One of the texts of a [`Kind::Choice`].
    ///
    /// # Errors
    /// It is not given.
    pub fn choice(&self, key: &str) -> Result<String, SettingsError> {
        self.text(key)
    }

    /// A whole number.
    ///
    /// # Errors
    /// It is not given, or does not fit into `T`.
    pub fn integer<T: TryFrom<i64>>(&self, key: &str) -> Result<T, SettingsError> {
        let number = self.required(key, Value::integer)?;
        T::try_from(number).map_err(|_| {
            self.unacceptable(
                key,
                format!("a number that fits into {}", std::any::type_name::<T>()),
            )
        })
    }

    /// A span of time.
    ///
    /// # Errors
    /// It is not given.
    pub fn duration(&self, key: &str) -> Result<Duration, SettingsError> {
        self.required(key, Value::duration)
    }

    /// An address with a port.
    ///
    /// # Errors
    /// It is not given.
    pub fn socket_address(&self, key: &str) -> Result<SocketAddr, SettingsError> {
        self.required(key, Value::socket_address)
    }

    /// The items of a list; none for a default of `""`.
    ///
    /// # Errors
    /// It is not given.
    pub fn list(&self, key: &str) -> Result<Vec<String>, SettingsError> {
        self.required(key, Value::list)
    }

    /// The items of a [`Kind::Pairs`], in their order; none for a default of `""`.
    ///
    /// # Errors
    /// It is not given.
    pub fn pairs(&self, key: &str) -> Result<Vec<(String, String)>, SettingsError> {
        self.required(key, Value::pairs)
    }

    /// The networks of a [`Kind::Networks`]; none when it is not given.
    #[must_use]
    pub fn networks(&self, key: &str) -> Vec<IpNet> {
        self.optional(key, Value::networks).unwrap_or_default()
    }

    /// A path, as it was given.
    ///
    /// # Errors
    /// It is not given.
    pub fn path(&self, key: &str) -> Result<PathBuf, SettingsError> {
        self.required(key, Value::path)
    }

    /// A path that may be left out.
    #[must_use]
    pub fn optional_path(&self, key: &str) -> Option<PathBuf> {
        self.optional(key, Value::path)
    }

    /// The error about a value that only its user can judge, in the words of all the others.
    #[must_use]
    pub fn unacceptable(&self, key: &str, expected: impl Into<String>) -> SettingsError {
        let entry = self.entry(key);
        match &entry.found {
            Some((_, origin)) => SettingsError::unacceptable(key, origin.clone(), expected.into()),
            None => SettingsError::missing(key, expected.into()),
        }
    }

    /// A line a setting: its value and where it is from, secrets only as set or not.
    #[must_use]
    pub fn describe(&self) -> Vec<String> {
        self.0.iter().map(Entry::describe).collect()
    }

    fn required<T>(&self, key: &str, pick: fn(&Value) -> Option<T>) -> Result<T, SettingsError> {
        self.optional(key, pick)
            .ok_or_else(|| SettingsError::missing(key, self.entry(key).setting.kind.expectation()))
    }

    fn optional<T>(&self, key: &str, pick: fn(&Value) -> Option<T>) -> Option<T> {
        let (value, _) = self.entry(key).found.as_ref()?;
        let picked = pick(value);
        assert!(
            picked.is_some(),
            "setting {key} is read as another kind than the table's"
        );
        picked
    }

    fn entry(&self, key: &str) -> &Entry {
        self.0
            .iter()
            .find(|entry| entry.setting.key == key)
            .unwrap_or_else(|| panic!("the table has no setting {key}"))
    }
}

impl Entry {
    fn describe(&self) -> String {
        let key = self.setting.key;
        match &self.found {
            None => format!("{key} (not set)"),
            Some((_, origin)) if self.setting.secret => format!("{key} (set), {origin}"),
            Some((value, origin)) => format!("{key} = {}, {origin}", value.shown()),
        }
    }
}

/// Shows what [`Settings::describe`] shows, because values may be secrets.
impl fmt::Debug for Settings {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_list().entries(self.describe()).finish()
    }
}

#[cfg(test)]
mod tests;
