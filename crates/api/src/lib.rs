#![doc = include_str!("../README.md")]

mod admission;
mod buildings;
mod config;
mod electricity;
mod error;
mod exchange;
mod extract;
mod forwarded;
mod grid_limits;
mod housekeeping;
mod limits;
mod login;
pub mod password;
mod refresh;
mod router;
mod run;
mod sensors;
mod serve;
mod state;
pub mod tls;
pub mod token;

pub use config::{Config, Handles};
pub use limits::REQUEST_TIMEOUT;
pub use router::{Access, Operation, operations};
pub use run::run;
