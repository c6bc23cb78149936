//! Passwords on their way in: from a prompt, standard input or the fleet file. Never shown.

use crate::failure::Failure;
use rustix::termios::{self, LocalModes, OptionalActions, Termios};
use serde::de::{Deserialize, Deserializer, Error as _};
use serde_json::Value;
use std::fmt;
use std::io::{self, BufRead as _, IsTerminal as _, Read as _, Write as _};
use store::Login;

/// Longest password, in bytes: bounds what is read.
const LONGEST_BYTES: usize = 1_000;

/// A password as it was given.
pub(crate) struct Password(String);

impl Password {
    /// Takes a password of 1 to 1,000 bytes.
    ///
    /// # Errors
    /// What is expected instead.
    pub(crate) fn new(text: String) -> Result<Self, &'static str> {
        if text.is_empty() {
            return Err("expected a password that is not empty");
        }
        if text.len() > LONGEST_BYTES {
            return Err("expected a password of at most 1,000 bytes");
        }
        Ok(Self(text))
    }

    /// Asks for a password twice, unseen, where standard input is a terminal; otherwise reads one line.
    pub(crate) fn ask(username: &str) -> Result<Self, Failure> {
        if !io::stdin().is_terminal() {
            return read_line();
        }
        let hidden = Hidden::start()?;
        let password = prompt(&format!("password of {username:?}: "))?;
        let again = prompt("the same again: ")?;
        drop(hidden);
        if password.0 != again.0 {
            return Err(Failure::Usage("the two passwords differ".to_owned()));
        }
        Ok(password)
    }

    /// The hash that is kept when it is this password's, a fresh one otherwise.
    pub(crate) fn hash_unless_kept(&self, kept: Option<&Login>) -> Result<String, Failure> {
        if let Some(login) = kept
            && api::password::verify(&self.0, &login.password_hash).unwrap_or(false)
        {
            return Ok(login.password_hash.clone());
        }
        api::password::hash(&self.0).map_err(|error| Failure::Running(format!("password: {error}")))
    }
}

impl fmt::Debug for Password {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Password")
    }
}

impl<'de> Deserialize<'de> for Password {
    /// By way of a value: serde's own message would show what stands there.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match Value::deserialize(deserializer)? {
            Value::String(text) => Self::new(text).map_err(D::Error::custom),
            Value::Null
            | Value::Bool(_)
            | Value::Number(_)
            | Value::Array(_)
            | Value::Object(_) => Err(D::Error::custom("expected a password as a text")),
        }
    }
}

fn prompt(text: &str) -> Result<Password, Failure> {
    let mut err = io::stderr().lock();
    write!(err, "{text}")?;
    err.flush()?;
    read_line()
}

fn read_line() -> Result<Password, Failure> {
    let usage = |rule: &str| Failure::Usage(format!("standard input: {rule}"));
    let mut line = Vec::new();
    // One byte more than any password, and the line's end.
    let bound = u64::try_from(LONGEST_BYTES + 3).unwrap_or(u64::MAX);
    io::stdin()
        .lock()
        .take(bound)
        .read_until(b'\n', &mut line)?;
    for end in [b'\n', b'\r'] {
        line.pop_if(|last| *last == end);
    }
    let text = String::from_utf8(line).map_err(|_| usage("expected a password in UTF-8"))?;
    Password::new(text).map_err(usage)
}

/// A terminal that does not show what is typed, until this is dropped.
struct Hidden(Termios);

impl Hidden {
    fn start() -> io::Result<Self> {
        let before = termios::tcgetattr(io::stdin())?;
        let mut hidden = before.clone();
        hidden.local_modes.remove(LocalModes::ECHO);
        hidden.local_modes.insert(LocalModes::ECHONL);
        termios::tcsetattr(io::stdin(), OptionalActions::Flush, &hidden)?;
        Ok(Self(before))
    }
}

impl Drop for Hidden {
    fn drop(&mut self) {
        // A terminal that is gone shows nothing anyway.
        if termios::tcsetattr(io::stdin(), OptionalActions::Drain, &self.0).is_err() {}
    }
}
