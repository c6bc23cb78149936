//! Real servers, started, killed and stopped.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod kafka;
mod mosquitto;
mod mqtt_client;
mod owner;
mod postgres;
mod running;
mod shipped_broker;
