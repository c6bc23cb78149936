#![doc = include_str!("../README.md")]

pub mod batch;
mod config;
mod fetch;
pub mod fold;
mod log_message;
mod probe;
mod run;
pub mod writer;

pub use config::{Config, Handles};
pub use run::{run, watch_database};
