//! What one test has to itself.

use crate::api_client::Client;
use crate::controller::Controller;
use crate::running::Running;
use crate::servers::{self, Edition, KafkaServer};
use embedded::Mosquitto;
use serde_json::{Value, json};
use sqlx::{PgPool, Row as _};
use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};
use tempfile::TempDir;
use uuid::Uuid;

/// With Kafka between bridge and aggregator, or without.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Over Kafka.
    Kafka,
    /// One process, no Kafka.
    Direct,
}

/// A building for a test's fleet file.
#[derive(Clone, Debug)]
pub struct BuildingPlan {
    /// Identity.
    pub uuid: Uuid,
    /// The fleet file's `sensor_hubs`.
    pub sensor_hubs: Value,
}

impl BuildingPlan {
    /// A building whose sensors the service adds.
    #[must_use]
    pub fn new() -> Self {
        Self {
            uuid: Uuid::new_v4(),
            sensor_hubs: json!([]),
        }
    }
}

impl Default for BuildingPlan {
    fn default() -> Self {
        Self::new()
    }
}

/// A database, a broker, a topic prefix, ports and settings of one test.
pub struct World {
    binary: PathBuf,
    folder: TempDir,
    mosquitto: Mutex<Mosquitto>,
    mqtt_port: u16,
    /// Settings by environment variable; a test may change them before it starts a process.
    pub settings: BTreeMap<String, String>,
    /// Where the public API listens.
    pub http_port: u16,
    /// A pool for a test's own questions.
    pub database: PgPool,
    started: Mutex<usize>,
}

/// The user of every world.
pub const USERNAME: &str = "ada";
/// Her password.
pub const PASSWORD: &str = "correct horse battery staple";

impl World {
    /// A migrated database on plain PostgreSQL, and whatever else `mode` needs; `binary` is the
    /// `wattline` under test.
    pub async fn new(binary: &str, mode: Mode) -> Self {
        Self::on(binary, mode, Edition::Plain).await
    }

    /// The same on the given edition of the database.
    pub async fn on(binary: &str, mode: Mode, edition: Edition) -> Self {
        let kafka = match mode {
            Mode::Kafka => {
                let shared = tokio::task::spawn_blocking(servers::shared_kafka)
                    .await
                    .unwrap();
                Some(shared)
            }
            Mode::Direct => None,
        };
        Self::with_kafka(binary, kafka, edition).await
    }

    /// The same with a Kafka of the test's own, or none for direct mode.
    pub async fn with_kafka(binary: &str, kafka: Option<&KafkaServer>, edition: Edition) -> Self {
        let folder = embedded::temporary_folder().unwrap();
        let mosquitto_folder = folder.path().join("mosquitto");
        let mosquitto =
            tokio::task::spawn_blocking(move || servers::start_mosquitto(&mosquitto_folder))
                .await
                .unwrap();
        let database_url = servers::fresh_database(edition).await;
        let http_port = embedded::free_port().unwrap();
        let mut settings = BTreeMap::from([
            ("WATTLINE_DATABASE_URL".to_owned(), database_url.clone()),
            ("WATTLINE_MQTT_URL".to_owned(), mosquitto.url()),
            (
                "WATTLINE_HTTP_LISTEN".to_owned(),
                format!("127.0.0.1:{http_port}"),
            ),
            (
                "WATTLINE_TOKEN_KEY_FILE".to_owned(),
                folder.path().join("token.keys").display().to_string(),
            ),
        ]);
        match kafka {
            Some(kafka) => {
                let prefix = format!("test-{}", Uuid::new_v4().simple());
                settings.insert(
                    "WATTLINE_KAFKA_BROKERS".to_owned(),
                    kafka.brokers().to_owned(),
                );
                settings.insert("WATTLINE_KAFKA_TOPIC_PREFIX".to_owned(), prefix.clone());
                settings.insert("WATTLINE_KAFKA_GROUP".to_owned(), prefix);
                // Few: every topic costs the one broker files and time.
                settings.insert("WATTLINE_KAFKA_PARTITIONS".to_owned(), "4".to_owned());
            }
            None => {
                settings.insert("WATTLINE_LOG_MODE".to_owned(), "direct".to_owned());
            }
        }
        let world = Self {
            binary: PathBuf::from(binary),
            folder,
            mqtt_port: mosquitto.port(),
            mosquitto: Mutex::new(mosquitto),
            settings,
            http_port,
            database: PgPool::connect(&database_url).await.unwrap(),
            started: Mutex::new(0),
        };
        world.command(&["migrate"]);
        world.command(&["admin", "token", "new-key"]);
        world
    }

    /// The Kafka topic with this suffix.
    #[must_use]
    pub fn topic(&self, suffix: &str) -> String {
        format!("{}.{suffix}", self.settings["WATTLINE_KAFKA_TOPIC_PREFIX"])
    }

    /// The test's own folder.
    #[must_use]
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Port of the broker on loopback.
    #[must_use]
    pub const fn mqtt_port(&self) -> u16 {
        self.mqtt_port
    }

    /// The broker, to be killed, frozen or restarted.
    pub fn mosquitto(&self) -> MutexGuard<'_, Mosquitto> {
        self.mosquitto
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// A controller that is connected to the broker.
    #[must_use]
    pub fn controller(&self) -> Controller {
        Controller::connect(self.mqtt_port)
    }

    /// Makes buildings known, and the user of every world their operator.
    pub fn apply(&self, buildings: &[BuildingPlan]) {
        let links: Vec<Value> = buildings
            .iter()
            .map(|it| json!({"uuid": it.uuid, "role": "operator"}))
            .collect();
        let buildings: Vec<Value> = buildings
            .iter()
            .map(|it| json!({"uuid": it.uuid, "name": "Depot", "sensor_hubs": it.sensor_hubs}))
            .collect();
        self.apply_fleet(&json!({
            "buildings": buildings,
            "users": [{"username": USERNAME, "password": PASSWORD, "buildings": links}],
        }));
    }

    /// Applies a fleet file.
    pub fn apply_fleet(&self, fleet: &Value) {
        let path = self
            .folder
            .path()
            .join(format!("fleet-{}.json", Uuid::new_v4()));
        std::fs::write(&path, fleet.to_string()).unwrap();
        self.command(&["admin", "apply", &path.display().to_string()]);
    }

    /// Makes one building known and answers with its identity.
    pub fn building(&self) -> Uuid {
        let plan = BuildingPlan::new();
        self.apply(std::slice::from_ref(&plan));
        plan.uuid
    }

    /// Runs a command to its end; it must succeed. Answers with its standard output.
    pub fn command(&self, arguments: &[&str]) -> String {
        let output = self.attempt(arguments);
        assert!(
            output.status.success(),
            "{arguments:?}: {}",
            String::from_utf8_lossy(&output.stderr)
        );
        String::from_utf8(output.stdout).unwrap()
    }

    /// Runs a command to its end, whatever it is.
    pub fn attempt(&self, arguments: &[&str]) -> Output {
        Command::new(&self.binary)
            .args(arguments)
            .envs(&self.settings)
            .output()
            .unwrap()
    }

    /// Runs a command to its end with this text on its standard input.
    pub fn attempt_with_input(&self, arguments: &[&str], input: &str) -> Output {
        let mut child = Command::new(&self.binary)
            .args(arguments)
            .envs(&self.settings)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        // Short enough for the pipe; a command that reads nothing may have ended.
        let written = child.stdin.take().unwrap().write_all(input.as_bytes());
        assert!(written.is_ok() || child.wait().is_ok());
        child.wait_with_output().unwrap()
    }

    /// Starts a role.
    #[must_use]
    pub fn start(&self, arguments: &[&str]) -> Running {
        self.start_with(arguments, &self.settings)
    }

    /// Starts an api beside the one at `http_port`, and tells where it listens.
    #[must_use]
    pub fn start_another_api(&self) -> (Running, u16) {
        let port = embedded::free_port().unwrap();
        let mut settings = self.settings.clone();
        settings.insert(
            "WATTLINE_HTTP_LISTEN".to_owned(),
            format!("127.0.0.1:{port}"),
        );
        (self.start_with(&["api"], &settings), port)
    }

    fn start_with(&self, arguments: &[&str], settings: &BTreeMap<String, String>) -> Running {
        let mut started = self.started.lock().unwrap_or_else(PoisonError::into_inner);
        *started += 1;
        let log = self
            .folder
            .path()
            .join(format!("{}-{started}.log", arguments.join("-")));
        Running::spawn(
            &self.binary,
            arguments,
            settings,
            log,
            embedded::free_port().unwrap(),
        )
    }

    /// Starts every role in one process and waits until it is ready.
    pub async fn serve(&self) -> Running {
        let running = self.start(&["serve"]);
        running.ready().await;
        running
    }

    /// The user of every world, logged in.
    pub async fn client(&self) -> Client {
        Client::new(self.http_port).login(USERNAME, PASSWORD).await
    }

    /// One number out of the database.
    pub async fn count(&self, query: &str) -> i64 {
        sqlx::query(query)
            .fetch_one(&self.database)
            .await
            .unwrap()
            .get(0)
    }

    /// The rows of a query as JSON.
    pub async fn rows(&self, query: &str) -> Vec<Value> {
        let text = format!("select to_json(row)::text from ({query}) row");
        sqlx::query(&text)
            .fetch_all(&self.database)
            .await
            .unwrap()
            .iter()
            .map(|row| serde_json::from_str(row.get(0)).unwrap())
            .collect()
    }
}
