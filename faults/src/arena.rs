//! The parts and the network between them: real servers, real processes, a proxy on every way.

mod process;
mod release;
mod routes;

use crate::broken_disk::SmallDisk;
use crate::fault::{Role, Route, Shape};
use crate::load::Building;
use crate::{Outcome, clocks};
use embedded::{
    Edition, Kafka, KafkaOptions, KafkaRoute, Mosquitto, MosquittoOptions, Postgres,
    PostgresOptions,
};
use process::Process;
pub use release::Release;
use routes::Routes;
use serde_json::json;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::Command;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tempfile::TempDir;
use testkit::Proxy;
use uuid::Uuid;

/// Partitions of the topics.
const PARTITIONS: u32 = 12;
const DATABASE: &str = "wattline";

/// Everything that runs. Ends when dropped: processes first, then servers, then the disk and the folder.
pub struct Arena {
    pub(crate) shape: Shape,
    pub(crate) buildings: Vec<Building>,
    processes: BTreeMap<Role, tokio::sync::Mutex<Process>>,
    pub(crate) routes: Routes,
    kafka: Arc<Mutex<Kafka>>,
    database: Arc<Mutex<Postgres>>,
    broker: Arc<Mutex<Mosquitto>>,
    pub(crate) disk: Option<SmallDisk>,
    release: Arc<Release>,
    settings: BTreeMap<String, String>,
    folder: TempDir,
}

impl Arena {
    /// Starts servers and processes of a release.
    ///
    /// # Errors
    /// When a server or a process cannot be started.
    pub async fn start(release: Release, shape: Shape, buildings: usize) -> Outcome<Self> {
        let folder = embedded::temporary_folder()?;
        let database_folder = folder.path().join("database");
        std::fs::create_dir(&database_folder)?;
        let disk = shape
            .small_disk
            .then(|| SmallDisk::mount(&database_folder))
            .transpose()?;
        let database_port = embedded::free_port()?;
        let mut options = PostgresOptions::new(database_folder, Edition::Plain);
        options.tcp_port = Some(database_port);
        let database = blocking(move || Ok(Postgres::start(&options)?)).await?;
        database.create_database(DATABASE)?;
        let options = MosquittoOptions::new(folder.path().join("broker"));
        let broker = blocking(move || Ok(Mosquitto::start(&options)?)).await?;
        let routes = Routes::open(shape, broker.port(), database_port).await?;
        let mut options = KafkaOptions::new(folder.path().join("kafka"));
        options.routes = routes.kafka();
        let kafka = blocking(move || Ok(Kafka::start(&options)?)).await?;
        let mut settings = BTreeMap::from([
            setting("DATABASE_URL", database.url(DATABASE)),
            setting("MQTT_URL", broker.url()),
            setting("KAFKA_BROKERS", kafka.brokers()),
            setting("KAFKA_PARTITIONS", PARTITIONS.to_string()),
            setting(
                "TOKEN_KEY_FILE",
                folder.path().join("token.keys").display().to_string(),
            ),
        ]);
        if shape.bridges > 1 {
            settings.extend([setting("MQTT_SHARE_GROUP", "bridges".to_owned())]);
        }
        let mut arena = Self {
            shape,
            buildings: (0..buildings).map(building).collect(),
            processes: BTreeMap::new(),
            routes,
            kafka: Arc::new(Mutex::new(kafka)),
            database: Arc::new(Mutex::new(database)),
            broker: Arc::new(Mutex::new(broker)),
            disk,
            release: Arc::new(release),
            settings,
            folder,
        };
        arena.prepare()?;
        for role in shape.roles() {
            let process = arena.process(role)?;
            arena
                .processes
                .insert(role, tokio::sync::Mutex::new(process));
        }
        Ok(arena)
    }

    /// A schema, a key and a fleet.
    fn prepare(&self) -> Outcome<()> {
        let buildings: Vec<_> = self.buildings.iter().map(fleet_entry).collect();
        let fleet = self.folder.path().join("fleet.json");
        std::fs::write(
            &fleet,
            json!({"buildings": buildings, "users": []}).to_string(),
        )?;
        self.command(&["migrate"])?;
        self.command(&["admin", "token", "new-key"])?;
        self.command(&["admin", "apply", &fleet.display().to_string()])?;
        Ok(())
    }

    /// Runs a command of ours to its end, past all proxies.
    ///
    /// # Errors
    /// What the command said that has failed.
    pub fn command(&self, arguments: &[&str]) -> Outcome<String> {
        let mut command = Command::new(self.release.current());
        let output = command.args(arguments).envs(&self.settings).output()?;
        if output.status.success() {
            return Ok(String::from_utf8(output.stdout)?);
        }
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        Err(format!("wattline {}: {said}", arguments.join(" ")).into())
    }

    /// Brings the schema up to date while everything runs; whatever starts from now on is of the new release.
    pub(crate) fn upgrade(&self) -> Outcome<()> {
        self.release.upgrade();
        self.command(&["migrate"]).map(drop)
    }

    pub(crate) fn is_to_be_upgraded(&self) -> bool {
        self.release.is_old()
    }

    fn process(&self, role: Role) -> Outcome<Process> {
        let mut settings = self.settings.clone();
        settings.extend(self.routes.settings(role, DATABASE));
        let name = name(role);
        let clock = self.folder.path().join(format!("{name}.clock"));
        clocks::step(&clock, 0)?;
        if let Some(library) = clocks::library().filter(|_| self.shape.clocks) {
            settings.extend(clocks::settings(&library, &clock));
        }
        let logs = self.folder.path().join(name);
        std::fs::create_dir(&logs)?;
        Process::start(Arc::clone(&self.release), role, settings, logs, clock)
    }

    /// One of our processes, for as long as somebody holds it.
    pub(crate) fn role(&self, role: Role) -> &tokio::sync::Mutex<Process> {
        &self.processes[&role]
    }

    pub(crate) fn roles(&self) -> impl Iterator<Item = Role> {
        self.processes.keys().copied()
    }

    pub(crate) fn route(&self, route: Route) -> &Proxy {
        self.routes.of(route)
    }

    pub(crate) fn kafka(&self) -> Arc<Mutex<Kafka>> {
        Arc::clone(&self.kafka)
    }

    pub(crate) fn database(&self) -> Arc<Mutex<Postgres>> {
        Arc::clone(&self.database)
    }

    pub(crate) fn broker(&self) -> Arc<Mutex<Mosquitto>> {
        Arc::clone(&self.broker)
    }

    /// The database past all proxies, as sqlx takes it.
    pub(crate) fn database_url(&self) -> String {
        lock(&self.database).url(DATABASE)
    }

    /// Kafka past all proxies.
    pub(crate) fn kafka_brokers(&self) -> String {
        lock(&self.kafka).brokers()
    }

    /// Keeps the folder with all logs, and tells where it is.
    pub(crate) fn keep_logs(&mut self) -> PathBuf {
        self.folder.disable_cleanup(true);
        self.folder.path().to_owned()
    }
}

/// Locks a server, whatever became of who had it before.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Runs what waits for other programs where it keeps nobody from going on.
pub(crate) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Outcome<T> + Send + 'static,
) -> Outcome<T> {
    tokio::task::spawn_blocking(work).await?
}

fn setting(key: &str, value: String) -> (String, String) {
    (format!("WATTLINE_{key}"), value)
}

fn building(number: usize) -> Building {
    Building {
        number,
        uuid: Uuid::new_v4(),
        gas_sensor: Uuid::new_v4(),
    }
}

fn fleet_entry(building: &Building) -> serde_json::Value {
    json!({"uuid": building.uuid, "name": "Depot", "sensor_hubs": [{
        "uuid": Uuid::new_v4(), "name": "Gas meter", "kind": "smart_meter",
        "sensors": [{"sensor_uuid": building.gas_sensor, "name": "Gas", "kind": "gas_volume", "min_interval": "minute"}],
    }]})
}

/// As the process's logs are named.
pub(crate) fn name(role: Role) -> String {
    match role {
        Role::Bridge(number) => format!("bridge-{number}"),
        Role::Aggregator(number) => format!("aggregator-{number}"),
        Role::Control => "control".to_owned(),
        Role::Api => "api".to_owned(),
    }
}

/// A way for Kafka's clients that goes through a proxy.
fn kafka_route(port: u16, proxy: &Proxy) -> KafkaRoute {
    KafkaRoute {
        port,
        advertised_port: proxy.port(),
    }
}
