//! Roles of a build of `wattline` as processes of their own.

use crate::{Outcome, cost};
use serde_json::Value;
use std::fs::{self, File};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Longest wait until a process can do its job; it takes some seconds.
const READY_PATIENCE: Duration = Duration::from_secs(60);
/// Pause between two looks at whether it can.
const READY_LOOK: Duration = Duration::from_millis(50);

/// The program, and what every process of it is told.
#[derive(Debug)]
pub struct Wattline {
    /// Where it is.
    pub program: PathBuf,
    /// Where its logs and the fleet file go.
    pub folder: PathBuf,
    /// Environment variables; all else is as shipped.
    pub settings: Vec<(&'static str, String)>,
}

impl Wattline {
    /// Brings the schema up to date, makes a token key, and applies a fleet file.
    ///
    /// # Errors
    /// What a command said that has failed.
    pub fn prepare(&self, fleet: &Value) -> Outcome<()> {
        let file = self.folder.join("fleet.json");
        fs::write(&file, fleet.to_string())?;
        let file = file.display().to_string();
        self.run(&["migrate"])?;
        self.run(&["admin", "token", "new-key"])?;
        self.run(&["admin", "apply", &file])
    }

    fn run(&self, arguments: &[&str]) -> Outcome<()> {
        let output = self.command(arguments).output()?;
        if output.status.success() {
            return Ok(());
        }
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        Err(format!("wattline {}: {said}", arguments.join(" ")).into())
    }

    /// Starts a role.
    ///
    /// # Errors
    /// When there is no port or no process for it.
    pub fn start(&self, name: &'static str) -> Outcome<Role> {
        let operations_port = embedded::free_port()?;
        let log = self.folder.join(format!("{name}.log"));
        let child = self
            .command(&[name])
            .env(
                "WATTLINE_OPS_LISTEN",
                format!("127.0.0.1:{operations_port}"),
            )
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(File::create(&log)?)
            .spawn()?;
        Ok(Role {
            name,
            child,
            operations_port,
            log,
        })
    }

    /// `setpriv` makes the kernel end the process when this one ends, in whatever way.
    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new("setpriv");
        command.args(["--pdeathsig", "KILL", "--"]);
        command.arg(&self.program).args(arguments);
        command
            .env_clear()
            .env("PATH", "/usr/local/bin:/usr/bin:/bin")
            .envs(self.settings.iter().map(|(key, value)| (key, value)));
        command
    }
}

/// A process that runs a role; killed when dropped.
#[derive(Debug)]
pub struct Role {
    name: &'static str,
    child: Child,
    operations_port: u16,
    log: PathBuf,
}

impl Role {
    /// Which role.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        self.name
    }

    /// The process's number.
    #[must_use]
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// The most memory that it has ever had, in megabytes (10^6).
    ///
    /// # Errors
    /// When it has ended.
    pub fn peak_memory_mb(&self) -> Outcome<f64> {
        cost::peak_memory_mb(self.id())
    }

    /// Asks its operations endpoint.
    ///
    /// # Errors
    /// When it does not answer.
    pub async fn ask(
        &self,
        client: &reqwest::Client,
        path: &str,
    ) -> reqwest::Result<reqwest::Response> {
        let url = format!("http://127.0.0.1:{}{path}", self.operations_port);
        client.get(url).send().await
    }

    /// Its log, when it has ended by itself.
    ///
    /// # Errors
    /// When it cannot be looked after.
    pub fn last_words(&mut self) -> Outcome<Option<String>> {
        let Some(status) = self.child.try_wait()? else {
            return Ok(None);
        };
        let said = fs::read_to_string(&self.log)?;
        Ok(Some(format!("{} has ended, {status}:\n{said}", self.name)))
    }

    /// Waits until it can do its job.
    ///
    /// # Errors
    /// Its log, when it has ended or takes too long.
    pub async fn ready(&mut self, client: &reqwest::Client) -> Outcome<()> {
        let begun = Instant::now();
        loop {
            let answer = self.ask(client, "/health/ready").await;
            if answer.is_ok_and(|it| it.status().is_success()) {
                return Ok(());
            }
            if let Some(words) = self.last_words()? {
                return Err(words.into());
            }
            if begun.elapsed() > READY_PATIENCE {
                let log = fs::read_to_string(&self.log)?;
                return Err(format!("{} is not ready:\n{log}", self.name).into());
            }
            tokio::time::sleep(READY_LOOK).await;
        }
    }
}

impl Drop for Role {
    fn drop(&mut self) {
        if self.child.kill().is_ok() {
            self.child.wait().ok();
        }
    }
}
