#![doc = include_str!("../README.md")]

mod buildings;
mod config;
mod electricity;
mod error;
mod exchange;
mod extract;
mod forwarded;
mod limits;
mod login;
pub mod password;
mod router;
mod run;
mod sensors;
mod serve;
mod state;
pub mod tls;
pub mod token;

pub use config::{Config, Handles};
pub use limits::REQUEST_TIMEOUT;
pub use run::run;
