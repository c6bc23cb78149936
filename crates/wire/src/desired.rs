//! The desired document: what a controller receives (`decisions.md`, what controllers receive).
//!
//! Keys come in the order of the specification's example. A document whose payload is empty is none:
//! with it the service takes a building's retained document away.

mod read;
mod write;

use domain::control::Desired;
use domain::time::Timestamp;
use serde_json::Value;
use std::fmt;

/// The whole desired control state of a building at one revision.
#[derive(Clone, Debug, PartialEq)]
pub struct Document {
    /// Rises with every change; 1 or more.
    pub revision: i64,
    /// When it was made, to the second.
    pub issued_at: Timestamp,
    /// What is desired.
    pub desired: Desired,
}

/// Why a payload is no desired document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unreadable {
    /// JSON pointer to the place; empty for the whole payload.
    pub pointer: String,
    /// What is expected there.
    pub expected: String,
}

impl fmt::Display for Unreadable {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{:?}: expected {}", self.pointer, self.expected)
    }
}

impl std::error::Error for Unreadable {}

/// Writes a document as compact JSON. Times are whole seconds, rounded down; a number that is whole is
/// written without a point.
#[must_use]
pub fn encode(document: &Document) -> Vec<u8> {
    Value::Object(write::document(document))
        .to_string()
        .into_bytes()
}

/// Reads a document; unknown keys are passed over. A fallback of 100 percent, or of no watts, reads as
/// the default one, which is the same to a controller.
///
/// # Errors
/// The first place that is not what the schema asks for, or where not exactly one of two keys is.
pub fn decode(payload: &[u8]) -> Result<Document, Unreadable> {
    let tree = crate::json::parse(payload).map_err(|error| Unreadable {
        pointer: String::new(),
        expected: format!("one UTF-8 JSON document ({error})"),
    })?;
    read::document(&read::Place::whole(&tree))
}

#[cfg(test)]
mod tests;
