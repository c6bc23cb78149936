#![doc = include_str!("../README.md")]

pub mod cost;
pub mod figures;
pub mod files;
pub mod records;
pub mod role;
pub mod typed;

/// Any error, with words that tell what went wrong.
pub type Outcome<T> = Result<T, Box<dyn std::error::Error + Send + Sync>>;
