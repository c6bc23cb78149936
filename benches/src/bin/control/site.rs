//! Private servers, api and control beside them, and a receiver at the broker.

use crate::buildings::{Building, PASSWORD, USERS_BUILDINGS, fleet_file, username};
use crate::options::Options;
use crate::receiver::Receiver;
use benches::Outcome;
use benches::cost::Machine;
use benches::role::{Role, Wattline};
use embedded::{Edition, Mosquitto, MosquittoOptions, Postgres, PostgresOptions};
use sqlx::PgPool;
use std::path::Path;
use std::time::{Duration, Instant};
use store::Store;
use tempfile::TempDir;
use testkit::Client;

const DATABASE: &str = "wattline";
/// Longest wait until control has published all that is to be published.
const PUBLISHED_PATIENCE: Duration = Duration::from_secs(300);
const PUBLISHED_LOOK: Duration = Duration::from_millis(100);

/// Everything that runs; stopped when dropped, the folder removed last.
pub(crate) struct Site {
    api: Role,
    pub(crate) control: Role,
    pub(crate) receiver: Receiver,
    http_port: u16,
    database: PgPool,
    database_url: String,
    mosquitto: Mosquitto,
    postgres: Postgres,
    _folder: TempDir,
}

impl Site {
    /// Starts it, with all buildings known; returns once each has its first document.
    pub(crate) async fn start(options: &Options, buildings: &[Building]) -> Outcome<Self> {
        let folder = embedded::temporary_folder()?;
        let at = |name: &str| folder.path().join(name);
        let postgres = start_postgres(&at("postgres"))?;
        let database_url = postgres.url(DATABASE);
        let mosquitto = Mosquitto::start(&MosquittoOptions::new(at("mosquitto")))?;
        let http_port = embedded::free_port()?;
        let keys = at("token.keys").display().to_string();
        let wattline = Wattline {
            program: options.files.wattline()?,
            folder: folder.path().to_owned(),
            settings: vec![
                ("WATTLINE_DATABASE_URL", database_url.clone()),
                ("WATTLINE_MQTT_URL", mosquitto.url()),
                ("WATTLINE_TOKEN_KEY_FILE", keys),
                ("WATTLINE_HTTP_LISTEN", format!("127.0.0.1:{http_port}")),
            ],
        };
        wattline.prepare(&fleet_file(buildings, options.acted))?;
        let receiver = Receiver::subscribe(mosquitto.port()).await?;
        let mut site = Self {
            api: wattline.start("api")?,
            control: wattline.start("control")?,
            receiver,
            http_port,
            database: PgPool::connect(&database_url).await?,
            database_url,
            mosquitto,
            postgres,
            _folder: folder,
        };
        let client = reqwest::Client::new();
        site.api.ready(&client).await?;
        site.control.ready(&client).await?;
        sqlx::raw_sql("vacuum analyze")
            .execute(&site.database)
            .await?;
        site.until_published().await?;
        Ok(site)
    }

    /// Waits until the outbox is empty.
    pub(crate) async fn until_published(&self) -> Outcome<()> {
        let begun = Instant::now();
        while begun.elapsed() < PUBLISHED_PATIENCE {
            let waits: bool = sqlx::query_scalar("select exists (select from desired_outbox)")
                .fetch_one(&self.database)
                .await?;
            if !waits {
                return Ok(());
            }
            tokio::time::sleep(PUBLISHED_LOOK).await;
        }
        Err("control does not publish what is in the outbox".into())
    }

    /// Sessions for putting in what api processes would have taken.
    pub(crate) fn store(&self, connections: u32) -> Outcome<Store> {
        Ok(Store::open(&self.database_url, connections)?)
    }

    /// A client of each user, logged in.
    pub(crate) async fn clients(&self, acted: u32) -> Vec<Client> {
        let mut clients = Vec::new();
        for user in 0..acted.div_ceil(USERS_BUILDINGS) {
            let client = Client::new(self.http_port);
            clients.push(client.login(&username(user), PASSWORD).await);
        }
        clients
    }

    /// All processes, to be asked for what they cost.
    pub(crate) fn machine(&self) -> Machine {
        Machine::new(vec![
            ("api", Some(self.api.id())),
            ("control", Some(self.control.id())),
            ("postgresql", self.postgres.id()),
            ("mosquitto", self.mosquitto.id()),
        ])
    }
}

/// A durable one with an empty database.
fn start_postgres(folder: &Path) -> Outcome<Postgres> {
    let mut options = PostgresOptions::new(folder, Edition::Plain);
    options.durable = true;
    let postgres = Postgres::start(&options)?;
    postgres.create_database(DATABASE)?;
    Ok(postgres)
}
