//! A private PostgreSQL and the api as a process beside it.

use crate::Outcome;
use crate::history::{fleet_file, users};
use crate::options::Options;
use embedded::{Edition, Postgres, PostgresOptions};
use std::fs::{self, File};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;
use testkit::Client;

const DATABASE: &str = "wattline";
/// Password of every user.
pub(crate) const PASSWORD: &str = "a password for one machine";
/// Longest wait until the api can do its job; it takes a second.
const READY_PATIENCE: Duration = Duration::from_secs(30);

/// The server, and the api once it is started; both stopped when dropped, the folder removed last.
pub(crate) struct Api {
    child: Option<Child>,
    wattline: PathBuf,
    http_port: u16,
    operations_port: u16,
    database_url: String,
    _postgres: Postgres,
    folder: TempDir,
}

impl Api {
    /// Starts PostgreSQL and makes buildings, sensors and users known.
    pub(crate) fn prepare(options: &Options) -> Outcome<Self> {
        let folder = embedded::temporary_folder()?;
        let mut server = PostgresOptions::new(folder.path().join("postgres"), Edition::Plain);
        server.durable = true;
        let postgres = Postgres::start(&server)?;
        postgres.create_database(DATABASE)?;
        let api = Self {
            child: None,
            wattline: options.wattline()?,
            http_port: embedded::free_port()?,
            operations_port: embedded::free_port()?,
            database_url: postgres.url(DATABASE),
            _postgres: postgres,
            folder,
        };
        let fleet = api.folder.path().join("fleet.json");
        fs::write(&fleet, fleet_file(options.buildings).to_string())?;
        let fleet = fleet.display().to_string();
        for arguments in [
            &["migrate"][..],
            &["admin", "token", "new-key"],
            &["admin", "apply", &fleet],
        ] {
            let output = api.command(arguments).output()?;
            if !output.status.success() {
                let said = String::from_utf8_lossy(&output.stderr).into_owned();
                return Err(format!("wattline {}: {said}", arguments.join(" ")).into());
            }
        }
        Ok(api)
    }

    pub(crate) fn database_url(&self) -> &str {
        &self.database_url
    }

    /// Starts the api and waits until it is ready.
    pub(crate) async fn start(&mut self) -> Outcome<()> {
        let log = self.folder.path().join("api.log");
        let child = self
            .command(&["api"])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(File::create(&log)?)
            .spawn()?;
        self.child = Some(child);
        let url = format!("http://127.0.0.1:{}/health/ready", self.operations_port);
        let begun = Instant::now();
        while !reqwest::get(&url)
            .await
            .is_ok_and(|it| it.status().is_success())
        {
            if begun.elapsed() > READY_PATIENCE {
                return Err(format!("the api is not ready:\n{}", fs::read_to_string(&log)?).into());
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        Ok(())
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

    /// The most memory that the api has ever had, in megabytes.
    pub(crate) fn peak_memory_mb(&self) -> Outcome<f64> {
        let id = self.child.as_ref().ok_or("the api was not started")?.id();
        let status = fs::read_to_string(format!("/proc/{id}/status"))?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let kib = line.and_then(|it| it.split_whitespace().next());
        let kib: f64 = kib.ok_or("the kernel tells no peak memory")?.parse()?;
        Ok(kib * 1_024.0 / 1e6)
    }

    /// `setpriv` makes the kernel end the process when this one ends, in whatever way.
    fn command(&self, arguments: &[&str]) -> Command {
        let listen = |port| format!("127.0.0.1:{port}");
        let keys = self.folder.path().join("token.keys");
        let mut command = Command::new("setpriv");
        command.args(["--pdeathsig", "KILL", "--"]);
        command.arg(&self.wattline).args(arguments);
        command
            .env_clear()
            .env("PATH", "/usr/local/bin:/usr/bin:/bin")
            .env("WATTLINE_DATABASE_URL", &self.database_url)
            .env("WATTLINE_TOKEN_KEY_FILE", keys)
            .env("WATTLINE_HTTP_LISTEN", listen(self.http_port))
            .env("WATTLINE_OPS_LISTEN", listen(self.operations_port));
        command
    }
}

impl Drop for Api {
    fn drop(&mut self) {
        if let Some(child) = &mut self.child
            && child.kill().is_ok()
        {
            child.wait().ok();
        }
    }
}
