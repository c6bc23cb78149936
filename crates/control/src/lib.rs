#![doc = include_str!("../README.md")]

mod backlog;
mod config;
mod database;
mod housekeeping;
mod in_flight;
mod publisher;
mod refusals;
mod run;
mod session;
mod transitions;
mod wakeups;

pub use config::{Config, Handles};
pub use run::run;
