#![doc = include_str!("../README.md")]

pub mod columns;
pub mod cost;
pub mod figures;
pub mod files;
pub mod records;
pub mod role;
pub mod side_by_side;
pub mod typed;

/// Any error, with words that tell what went wrong.
pub type Outcome<T> = Result<T, Box<dyn std::error::Error + Send + Sync>>;
