//! What can go wrong with the database, and what the caller can do about it.

use crate::ACQUIRE_TIMEOUT;

/// A statement or transaction that did not take effect.
#[derive(Clone, Debug, thiserror::Error)]
pub enum StoreFailure {
    /// The database is away, busy or not migrated yet: the same again later may work.
    #[error("{0}")]
    Transient(String),
    /// Another process moved a position of the log in the meantime: what was read belongs to it.
    #[error("a position of the log was moved by another process")]
    LostPosition,
    /// The database does not take a value that it was given (a constraint, a range): the same without
    /// that value may work.
    #[error("{0}")]
    Refused(String),
    /// Something that no retry mends.
    #[error("{0}")]
    Permanent(String),
}

impl StoreFailure {
    /// Whether the same again later may work.
    #[must_use]
    pub const fn is_transient(&self) -> bool {
        matches!(self, Self::Transient(_))
    }

    /// Whether the database ended a transaction because two waited for each other.
    pub(crate) fn is_deadlock(&self) -> bool {
        matches!(self, Self::Transient(text) if text.ends_with(DEADLOCK))
    }

    /// Whether a key is in the table already.
    pub(crate) fn is_known(&self) -> bool {
        matches!(self, Self::Refused(text) if text.ends_with(UNIQUE_VIOLATION))
    }
}

/// The end of the text when a key is taken.
const UNIQUE_VIOLATION: &str = "(SQLSTATE 23505)";
/// The end of a deadlock's text.
const DEADLOCK: &str = "(SQLSTATE 40P01)";

/// SQLSTATE classes and codes after which the same statement may work later.
/// 08 connection, 40 rolled back, 53 resources, 55 object not in the needed state, 57 operator.
const TRANSIENT_CLASSES: [&str; 5] = ["08", "40", "53", "55", "57"];
/// SQLSTATE classes that speak of what was given, not of the database: 22 data, 23 integrity
/// constraint, 54 limit of an index or a row, P0 raised by a function or trigger.
const REFUSING_CLASSES: [&str; 4] = ["22", "23", "54", "P0"];
/// Undefined table, column or function: the schema is not migrated yet.
const NOT_MIGRATED: [&str; 3] = ["42P01", "42703", "42883"];
/// Read-only: a standby that has not been promoted yet. Database or schema not there yet.
const NOT_YET: [&str; 3] = ["25006", "3D000", "3F000"];
/// A row does not fit where it is to be stored.
const CHECK_VIOLATION: &str = "23514";

impl From<sqlx::Error> for StoreFailure {
    fn from(error: sqlx::Error) -> Self {
        if let sqlx::Error::Database(refused) = &error {
            let code = refused.code().unwrap_or_default();
            let code = code.as_ref();
            if NOT_MIGRATED.contains(&code) {
                return Self::Transient(format!(
                    "the schema is missing or old: run `wattline migrate` ({})",
                    refused.message()
                ));
            }
            let is_one_of = |classes: &[&str]| classes.iter().any(|it| code.starts_with(it));
            // Of a partition that was made just now, which no constraint with a name is broken by.
            let rerouted = code == CHECK_VIOLATION && refused.constraint().is_none();
            let transient = rerouted || NOT_YET.contains(&code) || is_one_of(&TRANSIENT_CLASSES);
            let text = format!("database: {} (SQLSTATE {code})", refused.message());
            return if transient {
                Self::Transient(text)
            } else if is_one_of(&REFUSING_CLASSES) {
                Self::Refused(text)
            } else {
                Self::Permanent(text)
            };
        }
        let passing = matches!(
            error,
            sqlx::Error::Io(_)
                | sqlx::Error::Tls(_)
                | sqlx::Error::PoolTimedOut
                | sqlx::Error::PoolClosed
                | sqlx::Error::WorkerCrashed
                | sqlx::Error::Protocol(_)
        );
        let text = if matches!(error, sqlx::Error::PoolTimedOut) {
            let seconds = ACQUIRE_TIMEOUT.as_secs();
            format!("database: no connection within {seconds} s")
        } else {
            format!("database: {error}")
        };
        if passing {
            Self::Transient(text)
        } else {
            Self::Permanent(text)
        }
    }
}
