#![doc = include_str!("../README.md")]

mod config;
mod connection;
mod conservation;
mod intake;
mod ledger;
mod limit;
mod log;
mod look;
mod run;

pub use config::{Config, Handles};
pub use log::direct::{DirectLog, Handover, Receipt};
pub use log::kafka::{KafkaConfig, KafkaLog, WrongOption};
pub use log::{Letter, Log};
pub use look::{LookedAt, look_at_broker};
pub use run::run;
