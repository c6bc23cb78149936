//! A private PostgreSQL and the api as a process beside it.

use crate::history::{fleet_file, users};
use crate::options::Options;
use benches::Outcome;
use benches::cost::Machine;
use benches::role::{Role, Wattline};
use embedded::{Edition, Postgres, PostgresOptions};
use tempfile::TempDir;
use testkit::Client;

const DATABASE: &str = "wattline";
/// Password of every user.
pub(crate) const PASSWORD: &str = "a password for one machine";

/// The server, and the api once it is started; both stopped when dropped, the folder removed last.
pub(crate) struct Api {
    role: Option<Role>,
    wattline: Wattline,
    http_port: u16,
    database_url: String,
    postgres: Postgres,
    _folder: TempDir,
}

impl Api {
    /// Starts PostgreSQL and makes buildings, sensors and users known.
    pub(crate) fn prepare(options: &Options) -> Outcome<Self> {
        let folder = embedded::temporary_folder()?;
        let mut server = PostgresOptions::new(folder.path().join("postgres"), Edition::Plain);
        server.durable = true;
        let postgres = Postgres::start(&server)?;
        postgres.create_database(DATABASE)?;
        let http_port = embedded::free_port()?;
        let database_url = postgres.url(DATABASE);
        let keys = folder.path().join("token.keys").display().to_string();
        let wattline = Wattline {
            program: options.files.wattline()?,
            folder: folder.path().to_owned(),
            settings: vec![
                ("WATTLINE_DATABASE_URL", database_url.clone()),
                ("WATTLINE_TOKEN_KEY_FILE", keys),
                ("WATTLINE_HTTP_LISTEN", format!("127.0.0.1:{http_port}")),
            ],
        };
        wattline.prepare(&fleet_file(options.buildings))?;
        Ok(Self {
            role: None,
            wattline,
            http_port,
            database_url,
            postgres,
            _folder: folder,
        })
    }

    pub(crate) fn database_url(&self) -> &str {
        &self.database_url
    }

    /// Starts the api and waits until it is ready.
    pub(crate) async fn start(&mut self) -> Outcome<()> {
        let role = self.role.insert(self.wattline.start("api")?);
        role.ready(&reqwest::Client::new()).await
    }

    /// A client of each user, logged in.
    pub(crate) async fn clients(&self, buildings: u32) -> Vec<Client> {
        let mut clients = Vec::new();
        for user in 0..users(buildings) {
            let client = Client::new(self.http_port);
            clients.push(client.login(&format!("user-{user}"), PASSWORD).await);
        }
        clients
    }

    /// Watches the api and PostgreSQL.
    pub(crate) fn machine(&self) -> Machine {
        let api = self.role.as_ref().map(Role::id);
        Machine::new(vec![("api", api), ("postgresql", self.postgres.id())])
    }

    /// The most memory that the api has ever had, in megabytes.
    pub(crate) fn peak_memory_mb(&self) -> Outcome<f64> {
        let role = self.role.as_ref().ok_or("the api was not started")?;
        role.peak_memory_mb()
    }
}
