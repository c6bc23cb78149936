//! The decoder against the JSON Schemas: edge cases, examples, generated and mutated records.

#![expect(
    clippy::unwrap_used,
    reason = "tests stop where something is not as it should be"
)]

mod documents;
mod edge_cases;
mod examples;
mod generated;
mod judge;
mod mutations;
#[cfg(unix)]
mod page;
mod reach;
