#![doc = include_str!("../README.md")]

pub mod clock;
pub mod failure;
pub mod health;
pub mod logging;
pub mod metrics;
pub mod retry;
pub mod server;
pub mod settings;
pub mod shutdown;
pub mod watch;
