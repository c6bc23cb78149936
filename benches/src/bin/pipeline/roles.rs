//! Bridge, aggregator and api as processes of their own.

use crate::servers::Servers;
use crate::{Outcome, cost};
use serde::Serialize;
use serde_json::Value;
use std::collections::HashMap;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Longest wait until a process can do its job; it takes some seconds.
const READY_PATIENCE: Duration = Duration::from_secs(60);
/// Pause between two looks at whether it can.
const READY_LOOK: Duration = Duration::from_millis(100);

/// The three roles, ready.
pub(crate) struct Roles {
    roles: Vec<Role>,
    http_port: u16,
    client: reqwest::Client,
}

/// How much memory a process has ever had.
#[derive(Debug, Serialize)]
pub(crate) struct PeakMemory {
    pub(crate) process: &'static str,
    pub(crate) peak_mb: f64,
}

/// What the processes counted, added up.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Counted {
    pub(crate) stored: u64,
    pub(crate) duplicates: u64,
    pub(crate) retries: u64,
    pub(crate) bridge_reconnects: u64,
}

impl Roles {
    /// Prepares the database and starts the roles; returns when all are ready.
    pub(crate) async fn start(wattline: &Path, servers: &Servers, fleet: &Value) -> Outcome<Self> {
        let file = servers.folder().join("fleet.json");
        fs::write(&file, fleet.to_string())?;
        let file = file.display().to_string();
        for arguments in [
            &["migrate"][..],
            &["admin", "token", "new-key"],
            &["admin", "apply", &file],
        ] {
            run_to_its_end(wattline, servers, arguments)?;
        }
        let http_port = embedded::free_port()?;
        let mut roles = Self {
            roles: Vec::new(),
            http_port,
            client: reqwest::Client::new(),
        };
        for name in ["bridge", "aggregator", "api"] {
            roles
                .roles
                .push(Role::start(name, wattline, servers, http_port)?);
        }
        for role in &mut roles.roles {
            role.ready(&roles.client).await?;
        }
        Ok(roles)
    }

    /// Where the public API listens.
    pub(crate) const fn http_port(&self) -> u16 {
        self.http_port
    }

    /// The roles by name, with their processes' numbers.
    pub(crate) fn processes(&self) -> Vec<(&'static str, Option<u32>)> {
        let role = |role: &Role| (role.name, Some(role.child.id()));
        self.roles.iter().map(role).collect()
    }

    /// The most memory that each has ever had.
    pub(crate) fn peak_memory(&self) -> Outcome<Vec<PeakMemory>> {
        let peak = |role: &Role| {
            Ok(PeakMemory {
                process: role.name,
                peak_mb: cost::peak_memory_mb(role.child.id())?,
            })
        };
        self.roles.iter().map(peak).collect()
    }

    /// What the aggregator and the bridge have counted so far.
    pub(crate) async fn counted(&self) -> Outcome<Counted> {
        // Every process has every series, at zero where it is not its own.
        let mut series: HashMap<String, u64> = HashMap::new();
        for role in &self.roles {
            let scrape = role.ask(&self.client, "/metrics").await?.text().await?;
            for (name, value) in scrape.lines().filter_map(|line| line.split_once(' ')) {
                if let Ok(value) = value.parse::<u64>() {
                    *series.entry(name.to_owned()).or_default() += value;
                }
            }
        }
        let count = |name: &str| {
            let value = series.get(name).copied();
            value.ok_or_else(|| format!("no process counts {name}"))
        };
        Ok(Counted {
            stored: count("wattline_aggregator_stored_messages_total")?,
            duplicates: count("wattline_aggregator_duplicate_messages_total")?,
            retries: count("wattline_aggregator_retries_total")?,
            bridge_reconnects: count("wattline_bridge_reconnects_total")?,
        })
    }
}

/// A process that runs a role; killed when dropped.
struct Role {
    name: &'static str,
    child: Child,
    operations_port: u16,
    log: PathBuf,
}

impl Role {
    fn start(
        name: &'static str,
        wattline: &Path,
        servers: &Servers,
        http_port: u16,
    ) -> Outcome<Self> {
        let operations_port = embedded::free_port()?;
        let log = servers.folder().join(format!("{name}.log"));
        let listen = |port| format!("127.0.0.1:{port}");
        let child = command(wattline, servers, &[name])
            .env("WATTLINE_OPS_LISTEN", listen(operations_port))
            .env("WATTLINE_HTTP_LISTEN", listen(http_port))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(File::create(&log)?)
            .spawn()?;
        Ok(Self {
            name,
            child,
            operations_port,
            log,
        })
    }

    async fn ask(
        &self,
        client: &reqwest::Client,
        path: &str,
    ) -> reqwest::Result<reqwest::Response> {
        let url = format!("http://127.0.0.1:{}{path}", self.operations_port);
        client.get(url).send().await
    }

    async fn ready(&mut self, client: &reqwest::Client) -> Outcome<()> {
        let begun = Instant::now();
        loop {
            let answer = self.ask(client, "/health/ready").await;
            if answer.is_ok_and(|it| it.status().is_success()) {
                return Ok(());
            }
            let ended = self.child.try_wait()?.is_some();
            if ended || begun.elapsed() > READY_PATIENCE {
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

/// `setpriv` makes the kernel end the process when this one ends, in whatever way.
fn command(wattline: &Path, servers: &Servers, arguments: &[&str]) -> Command {
    let mut command = Command::new("setpriv");
    command.args(["--pdeathsig", "KILL", "--"]);
    command.arg(wattline).args(arguments);
    command
        .env_clear()
        .env("PATH", "/usr/local/bin:/usr/bin:/bin");
    command.envs(servers.settings());
    command
}

fn run_to_its_end(wattline: &Path, servers: &Servers, arguments: &[&str]) -> Outcome<()> {
    let output = command(wattline, servers, arguments).output()?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    Err(format!("wattline {}: {said}", arguments.join(" ")).into())
}
