//! The private servers, and what a process needs to know to use them.

use benches::Outcome;
use embedded::{
    Edition, Kafka, KafkaOptions, Mosquitto, MosquittoOptions, Postgres, PostgresOptions,
    StartFailure,
};
use serde_json::Value;
use simulator::Fleet;
use sqlx::PgPool;
use std::path::Path;
use tempfile::TempDir;

/// The user of the fleet file.
pub(crate) const USERNAME: &str = "demo";
/// His password.
pub(crate) const PASSWORD: &str = "a password for one machine";

const DATABASE: &str = "wattline";

/// Mosquitto, PostgreSQL that is durable, and Kafka; stopped when dropped, their folder removed last.
pub(crate) struct Servers {
    mosquitto: Mosquitto,
    postgres: Postgres,
    kafka: Kafka,
    edition: &'static str,
    folder: TempDir,
}

impl Servers {
    /// Starts them and waits until they answer; takes TimescaleDB where it is installed.
    pub(crate) fn start(plain: bool) -> Outcome<Self> {
        let folder = embedded::temporary_folder()?;
        let at = |name: &str| folder.path().join(name);
        let (postgres, edition) = start_postgres(&at("postgres"), plain)?;
        postgres.create_database(DATABASE)?;
        Ok(Self {
            mosquitto: Mosquitto::start(&MosquittoOptions::new(at("mosquitto")))?,
            kafka: Kafka::start(&KafkaOptions::new(at("kafka")))?,
            postgres,
            edition,
            folder,
        })
    }

    /// Which database it is.
    pub(crate) const fn edition(&self) -> &'static str {
        self.edition
    }

    /// A folder that goes with the servers.
    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// The broker's address.
    pub(crate) fn mqtt_url(&self) -> String {
        self.mosquitto.url()
    }

    /// The broker's port on loopback.
    pub(crate) fn mqtt_port(&self) -> u16 {
        self.mosquitto.port()
    }

    /// Sessions for our own questions.
    pub(crate) async fn database(&self) -> Outcome<PgPool> {
        Ok(PgPool::connect(&self.postgres.url(DATABASE)).await?)
    }

    /// What every process is told; all else is as shipped.
    pub(crate) fn settings(&self) -> Vec<(&'static str, String)> {
        let keys = self.folder().join("token.keys").display().to_string();
        vec![
            ("WATTLINE_DATABASE_URL", self.postgres.url(DATABASE)),
            ("WATTLINE_MQTT_URL", self.mosquitto.url()),
            ("WATTLINE_KAFKA_BROKERS", self.kafka.brokers()),
            ("WATTLINE_TOKEN_KEY_FILE", keys),
        ]
    }

    /// The servers by name, with the number of their first process.
    pub(crate) fn processes(&self) -> Vec<(&'static str, Option<u32>)> {
        vec![
            ("mosquitto", self.mosquitto.id()),
            ("kafka", self.kafka.id()),
            ("postgresql", self.postgres.id()),
        ]
    }
}

fn start_postgres(folder: &Path, plain: bool) -> Result<(Postgres, &'static str), StartFailure> {
    let start = |edition| {
        let mut options = PostgresOptions::new(folder, edition);
        options.durable = true;
        Postgres::start(&options)
    };
    if !plain {
        match start(Edition::Timescale) {
            Err(StartFailure::Missing(_)) => {}
            started => return Ok((started?, "TimescaleDB")),
        }
    }
    Ok((start(Edition::Plain)?, "plain PostgreSQL"))
}

/// One fleet file for the buildings under load and those that probes are sent for.
pub(crate) fn fleet_file(fleet: &Fleet, probes: &Fleet) -> Value {
    let mut file = fleet.fleet_file(PASSWORD);
    let mut further = probes.fleet_file(PASSWORD);
    for list in ["/buildings", "/users/0/buildings"] {
        let taken = further.pointer_mut(list).map(Value::take);
        if let (Some(Value::Array(all)), Some(Value::Array(more))) = (file.pointer_mut(list), taken)
        {
            all.extend(more);
        }
    }
    file
}
