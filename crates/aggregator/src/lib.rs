#![doc = include_str!("../README.md")]

mod again;
mod backlog;
pub mod batch;
mod config;
mod fetch;
pub mod fold;
mod log_message;
mod probe;
pub mod retention;
mod run;
pub mod writer;
mod writing;

pub use config::{Config, Handles};
pub use run::{run, watch_database};
