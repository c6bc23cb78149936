#![doc = include_str!("../README.md")]

mod answer;
mod certificate;
mod failure;
mod folder;
mod installed;
mod kafka;
mod mosquitto;
mod port;
mod postgres;
mod process;
mod prometheus;
mod server;

pub use certificate::ServerCertificate;
pub use failure::StartFailure;
pub use folder::{free_bytes, temporary_folder};
pub use kafka::{Kafka, KafkaLogin, KafkaOptions, KafkaRoute};
pub use mosquitto::{Mosquitto, MosquittoOptions};
pub use port::free_port;
pub use postgres::{Edition, Postgres, PostgresOptions};
pub use prometheus::{Prometheus, PrometheusOptions, check_rules};
