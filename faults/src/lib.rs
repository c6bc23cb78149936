#![doc = include_str!("../README.md")]
#![expect(
    clippy::unwrap_used,
    reason = "a run that cannot be set up ends, with its place"
)]

pub mod arena;
mod broken_disk;
mod clocks;
pub mod fault;
mod judge;
mod ledger;
mod load;
mod oracle;
mod publisher;
pub mod run;
mod schedule;
mod strike;
pub mod summary;
mod vain;
mod watch;

/// A run that could not be made to its end, in words.
pub type Outcome<T> = Result<T, Box<dyn std::error::Error + Send + Sync>>;
