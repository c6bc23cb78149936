//! The demo's own servers, in a folder of their own that goes with them.

use super::with_servers;
use crate::failure::Failure;
use crate::output;
use embedded::{
    Edition, Kafka, KafkaOptions, Mosquitto, MosquittoOptions, Postgres, PostgresOptions,
    StartFailure, free_bytes, temporary_folder,
};
use ops::settings::Settings;
use std::path::Path;
use tempfile::TempDir;

const MEGABYTE: u64 = 1_000_000;
/// A new database takes 60 MB and a log segment or two of Kafka's as much; the rest is for an hour of records.
const NEEDED_BYTES: u64 = 300 * MEGABYTE;

/// Mosquitto, PostgreSQL and, unless direct, Kafka; stopped when dropped, the folder last.
pub(super) struct PrivateServers {
    mosquitto: Mosquitto,
    postgres: Postgres,
    kafka: Option<Kafka>,
    folder: TempDir,
}

impl From<StartFailure> for Failure {
    fn from(failure: StartFailure) -> Self {
        Self::Running(failure.to_string())
    }
}

impl PrivateServers {
    /// Starts them and waits until they answer. Takes TimescaleDB where it is installed.
    pub(super) fn start(direct: bool) -> Result<Self, Failure> {
        let folder = temporary_folder()?;
        refuse_full_disk(folder.path())?;
        let at = |name: &str| folder.path().join(name);
        let mosquitto = Mosquitto::start(&MosquittoOptions::new(at("mosquitto")))?;
        let postgres = start_postgres(&at("postgres"))?;
        let kafka = match direct {
            true => None,
            false => Some(Kafka::start(&KafkaOptions::new(at("kafka")))?),
        };
        output::line(&format!("servers run in {}", folder.path().display()))?;
        Ok(Self {
            mosquitto,
            postgres,
            kafka,
            folder,
        })
    }

    /// The settings of a process that uses these servers.
    pub(super) fn settings(&self, given: &Settings) -> Result<Settings, Failure> {
        let key_file = self.folder.path().join("token.keys").display().to_string();
        let mut servers = vec![
            ("database_url", self.postgres.url("postgres")),
            ("mqtt_url", self.mosquitto.url()),
            ("token_key_file", key_file),
        ];
        match &self.kafka {
            Some(kafka) => servers.push(("kafka_brokers", kafka.brokers())),
            None => servers.push(("log_mode", "direct".to_owned())),
        }
        with_servers(given, &servers)
    }
}

/// A server that runs out of disk says so in many words; better before than after.
fn refuse_full_disk(folder: &Path) -> Result<(), Failure> {
    let free = free_bytes(folder)?;
    if free >= NEEDED_BYTES {
        return Ok(());
    }
    Err(Failure::Running(format!(
        "{} MB are free for {} and the demo needs {}: free some, or name another folder with TMPDIR",
        free / MEGABYTE,
        folder.display(),
        NEEDED_BYTES / MEGABYTE,
    )))
}

fn start_postgres(folder: &Path) -> Result<Postgres, Failure> {
    match Postgres::start(&PostgresOptions::new(folder, Edition::Timescale)) {
        Err(StartFailure::Missing(_)) => Ok(Postgres::start(&PostgresOptions::new(
            folder,
            Edition::Plain,
        ))?),
        started => Ok(started?),
    }
}
