//! Servers that all tests of a binary share, each started when first asked for.

use embedded::{
    Kafka, KafkaOptions, Mosquitto, MosquittoOptions, Postgres, PostgresOptions, StartFailure,
};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use tempfile::TempDir;
use uuid::Uuid;

/// With or without TimescaleDB.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Edition {
    /// PostgreSQL as the distribution has it.
    Plain,
    /// PostgreSQL with TimescaleDB.
    Timescale,
}

/// A Kafka broker and the folder that it lives in.
#[derive(Debug)]
pub struct KafkaServer {
    server: Mutex<Kafka>,
    brokers: String,
    _folder: TempDir,
}

impl KafkaServer {
    /// Starts a broker for one test alone, that it may kill. Blocks.
    #[must_use]
    pub fn start() -> Self {
        let folder = embedded::temporary_folder().unwrap();
        let server = Kafka::start(&KafkaOptions::new(folder.path())).unwrap();
        Self {
            brokers: server.brokers(),
            server: Mutex::new(server),
            _folder: folder,
        }
    }

    /// `127.0.0.1:PORT`.
    #[must_use]
    pub fn brokers(&self) -> &str {
        &self.brokers
    }

    /// The broker, to be killed, frozen or restarted.
    pub fn control(&self) -> MutexGuard<'_, Kafka> {
        self.server.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The Kafka that tests share; they have topics of their own.
#[must_use]
pub fn shared_kafka() -> &'static KafkaServer {
    static SHARED: OnceLock<KafkaServer> = OnceLock::new();
    SHARED.get_or_init(KafkaServer::start)
}

/// A PostgreSQL and the folder that it lives in.
#[derive(Debug)]
pub struct DatabaseServer {
    server: Mutex<Postgres>,
    _folder: TempDir,
}

impl DatabaseServer {
    /// Starts a server for one test alone, that it may kill. Blocks.
    #[must_use]
    pub fn start() -> Self {
        let folder = embedded::temporary_folder().unwrap();
        let options = PostgresOptions::new(folder.path(), embedded::Edition::Plain);
        Self {
            server: Mutex::new(Postgres::start(&options).unwrap()),
            _folder: folder,
        }
    }

    /// The URL of its own database `postgres`.
    #[must_use]
    pub fn url(&self) -> String {
        self.control().url("postgres")
    }

    /// The server, to be killed, frozen or restarted.
    pub fn control(&self) -> MutexGuard<'_, Postgres> {
        self.server.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

struct Database {
    server: Postgres,
    _folder: TempDir,
}

fn shared_database(edition: Edition) -> &'static Database {
    static PLAIN: OnceLock<Database> = OnceLock::new();
    static TIMESCALE: OnceLock<Database> = OnceLock::new();
    match edition {
        Edition::Plain => PLAIN.get_or_init(|| start_database(embedded::Edition::Plain)),
        Edition::Timescale => {
            TIMESCALE.get_or_init(|| start_database(embedded::Edition::Timescale))
        }
    }
}

fn start_database(edition: embedded::Edition) -> Database {
    let folder = embedded::temporary_folder().unwrap();
    let mut options = PostgresOptions::new(folder.path(), edition);
    // A test that kills PostgreSQL itself starts one of its own, with fsync.
    options.durable = false;
    Database {
        server: Postgres::start(&options).unwrap(),
        _folder: folder,
    }
}

/// The URL of a fresh, empty database.
pub async fn fresh_database(edition: Edition) -> String {
    let database = tokio::task::spawn_blocking(move || shared_database(edition))
        .await
        .unwrap();
    let name = format!("test_{}", Uuid::new_v4().simple());
    let admin = sqlx::PgPool::connect(&database.server.url("postgres"))
        .await
        .unwrap();
    // template0: nothing is ever connected to it.
    sqlx::query(&format!("create database {name} template template0"))
        .execute(&admin)
        .await
        .unwrap();
    admin.close().await;
    database.server.url(&name)
}

/// A broker of a test's own: bridges take everything that a broker has, so tests cannot share one. Another
/// process may take the port that was free a moment ago; then another one is tried.
pub(crate) fn start_mosquitto(folder: &Path) -> Mosquitto {
    const ATTEMPTS: usize = 5;
    for _ in 1..ATTEMPTS {
        match Mosquitto::start(&MosquittoOptions::new(PathBuf::from(folder))) {
            Err(StartFailure::PortInUse { .. }) => {}
            started => return started.unwrap(),
        }
    }
    Mosquitto::start(&MosquittoOptions::new(PathBuf::from(folder))).unwrap()
}
