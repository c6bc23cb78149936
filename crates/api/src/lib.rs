#![doc = include_str!("../README.md")]

mod actions;
mod admission;
mod buildings;
mod comfort;
mod config;
mod described;
mod description;
mod electricity;
mod error;
mod example;
mod exchange;
mod extract;
mod forwarded;
mod grid_limits;
mod housekeeping;
mod key_values;
mod limits;
mod login;
mod meter_readings;
mod openapi;
pub mod password;
mod refresh;
mod router;
mod run;
mod sensors;
mod serve;
mod state;
pub mod tls;
pub mod token;
mod turn;
pub mod untrusted;

pub use config::{Config, Handles};
pub use limits::REQUEST_TIMEOUT;
pub use openapi::document as openapi;
pub use router::{Access, Operation, operations};
pub use run::run;
