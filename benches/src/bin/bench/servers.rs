//! The private servers of a series of runs, and what one run has for itself: a broker, a topic, a database.

use crate::batch::{Batch, SEED};
use crate::latency;
use crate::topic::{PARTITIONS, Topic};
use benches::Outcome;
use benches::cost::Machine;
use benches::figures::say;
use benches::role::Wattline;
use domain::time::Timestamp;
use embedded::{
    Edition, Kafka, KafkaOptions, Mosquitto, MosquittoOptions, Postgres, PostgresOptions,
    StartFailure,
};
use ops::clock::Clock;
use serde_json::Value;
use simulator::Fleet;
use sqlx::{Connection as _, PgConnection};
use std::cell::Cell;
use std::path::{Path, PathBuf};
use store::Store;
use tempfile::TempDir;

/// The user of the fleet file.
pub(crate) const USERNAME: &str = "demo";
/// His password.
pub(crate) const PASSWORD: &str = "a password for one machine";

/// Records that Kafka takes before anything is measured, so that Java has compiled what it uses.
const WARM_UP_RECORDS: usize = 200_000;

/// Kafka and PostgreSQL that is durable; stopped when dropped, their folder removed last.
pub(crate) struct Servers {
    kafka: Kafka,
    postgres: Option<Postgres>,
    edition: &'static str,
    folder: TempDir,
    runs: Cell<u32>,
}

/// What one run has for itself; the broker is stopped when dropped.
pub(crate) struct Site {
    pub(crate) mosquitto: Mosquitto,
    pub(crate) topic: Topic,
    pub(crate) folder: PathBuf,
    settings: Vec<(&'static str, String)>,
    database: Option<Database>,
}

/// A database of a run.
pub(crate) struct Database {
    pub(crate) name: String,
    pub(crate) url: String,
    /// Our own way in.
    pub(crate) store: Store,
}

impl Servers {
    /// Starts them, and has Kafka work for a while.
    pub(crate) async fn start(database: Option<Edition>, records: usize) -> Outcome<Self> {
        say("starting the servers")?;
        let folder = embedded::temporary_folder()?;
        let at = |name: &str| folder.path().join(name);
        let (postgres, edition) = match database {
            Some(edition) => {
                let (postgres, edition) = start_postgres(&at("postgres"), edition)?;
                (Some(postgres), edition)
            }
            None => (None, "no database"),
        };
        let servers = Self {
            kafka: Kafka::start(&KafkaOptions::new(at("kafka")))?,
            postgres,
            edition,
            folder,
            runs: Cell::new(0),
        };
        servers.warm_up(records.min(WARM_UP_RECORDS)).await?;
        Ok(servers)
    }

    async fn warm_up(&self, records: usize) -> Outcome<()> {
        let topic = Topic::make(self.kafka.brokers(), "warm-up".to_owned()).await?;
        let now = Timestamp::from_micros(Clock::system().now_micros());
        let batch = Batch::at_once(1, records, now);
        topic.fill(&batch)?;
        topic.count(&batch)?;
        topic.remove().await
    }

    /// Which database it is.
    pub(crate) const fn edition(&self) -> &'static str {
        self.edition
    }

    /// A broker and a topic that nothing has used before.
    pub(crate) async fn site(&self) -> Outcome<Site> {
        let run = self.runs.get() + 1;
        self.runs.set(run);
        let folder = self.folder.path().join(format!("run-{run}"));
        let mosquitto = Mosquitto::start(&MosquittoOptions::new(folder.join("mosquitto")))?;
        let prefix = format!("bench-{run}");
        let settings = vec![
            ("WATTLINE_MQTT_URL", mosquitto.url()),
            ("WATTLINE_KAFKA_BROKERS", self.kafka.brokers()),
            ("WATTLINE_KAFKA_PARTITIONS", PARTITIONS.to_string()),
            ("WATTLINE_KAFKA_GROUP", prefix.clone()),
            ("WATTLINE_KAFKA_TOPIC_PREFIX", prefix.clone()),
        ];
        let topic = Topic::make(self.kafka.brokers(), format!("{prefix}.telemetry")).await?;
        Ok(Site {
            mosquitto,
            topic,
            folder,
            settings,
            database: None,
        })
    }

    /// The same, and a database that knows the fleet and those whom probes are sent for.
    pub(crate) async fn site_with_database(
        &self,
        program: &Path,
        buildings: usize,
    ) -> Outcome<Site> {
        let mut site = self.site().await?;
        let postgres = self.postgres.as_ref().ok_or("no database was started")?;
        let name = format!("bench_{}", self.runs.get());
        postgres.create_database(&name)?;
        let url = postgres.url(&name);
        let keys = site.folder.join("token.keys").display().to_string();
        let address = format!("127.0.0.1:{}", embedded::free_port()?);
        site.settings.extend([
            ("WATTLINE_DATABASE_URL", url.clone()),
            ("WATTLINE_TOKEN_KEY_FILE", keys),
            ("WATTLINE_HTTP_LISTEN", address),
        ]);
        let store = Store::open(&url, 1)?;
        site.database = Some(Database { name, url, store });
        site.wattline(program).prepare(&fleet_file(buildings))?;
        // What was written to prepare this is not this run's work.
        self.ask("checkpoint").await?;
        Ok(site)
    }

    /// Ends a run: what it has left costs the next one nothing.
    pub(crate) async fn clear(&self, site: Site) -> Outcome<()> {
        if let Some(database) = site.database {
            database.store.close().await;
            let name = &database.name;
            self.ask(&format!("drop database {name} with (force)"))
                .await?;
        }
        site.topic.remove().await
    }

    async fn ask(&self, statement: &str) -> Outcome<()> {
        let postgres = self.postgres.as_ref().ok_or("no database was started")?;
        let mut connection = PgConnection::connect(&postgres.url("postgres")).await?;
        sqlx::raw_sql(statement).execute(&mut connection).await?;
        Ok(connection.close().await?)
    }

    /// Watches these processes of a run, and the servers that it uses.
    pub(crate) fn machine(
        &self,
        site: Option<&Site>,
        processes: &[(&'static str, u32)],
    ) -> Machine {
        let mut all: Vec<_> = processes
            .iter()
            .map(|(name, id)| (*name, Some(*id)))
            .collect();
        all.push(("mosquitto", site.and_then(|it| it.mosquitto.id())));
        all.push(("kafka", self.kafka.id()));
        all.push(("postgresql", self.postgres.as_ref().and_then(Postgres::id)));
        Machine::new(all)
    }
}

impl Site {
    /// Our program as this run has it started.
    pub(crate) fn wattline(&self, program: &Path) -> Wattline {
        Wattline {
            program: program.to_owned(),
            folder: self.folder.clone(),
            settings: self.settings.clone(),
        }
    }

    /// One of the settings of our program.
    pub(crate) fn setting(&self, name: &str) -> Outcome<&str> {
        let setting = self.settings.iter().find(|(key, _)| *key == name);
        let value = setting.map(|(_, value)| value.as_str());
        value.ok_or_else(|| format!("this run has no {name}").into())
    }

    /// The run's database.
    pub(crate) fn database(&self) -> Outcome<&Database> {
        Ok(self.database.as_ref().ok_or("this run has no database")?)
    }
}

fn start_postgres(
    folder: &Path,
    edition: Edition,
) -> Result<(Postgres, &'static str), StartFailure> {
    let start = |edition| {
        let mut options = PostgresOptions::new(folder, edition);
        options.durable = true;
        Postgres::start(&options)
    };
    match edition {
        Edition::Timescale => match start(edition) {
            Err(StartFailure::Missing(_)) => {}
            started => return Ok((started?, "TimescaleDB")),
        },
        Edition::Plain => {}
    }
    Ok((start(Edition::Plain)?, "plain PostgreSQL"))
}

/// One fleet file for the buildings under load and those that probes are sent for.
fn fleet_file(buildings: usize) -> Value {
    let mut file = Fleet::new(SEED, buildings).fleet_file(PASSWORD);
    let mut further = latency::buildings().fleet_file(PASSWORD);
    for list in ["/buildings", "/users/0/buildings"] {
        let taken = further.pointer_mut(list).map(Value::take);
        if let (Some(Value::Array(all)), Some(Value::Array(more))) = (file.pointer_mut(list), taken)
        {
            all.extend(more);
        }
    }
    file
}
