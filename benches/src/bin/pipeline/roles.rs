//! Bridge, aggregator and api as processes of their own.

use crate::servers::Servers;
use benches::Outcome;
use benches::role::{Role, Wattline};
use serde::Serialize;
use serde_json::Value;
use std::collections::HashMap;
use std::path::PathBuf;

/// The three roles, ready.
pub(crate) struct Roles {
    wattline: Wattline,
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
    pub(crate) async fn start(program: PathBuf, servers: &Servers, fleet: &Value) -> Outcome<Self> {
        let http_port = embedded::free_port()?;
        let mut settings = servers.settings();
        settings.push(("WATTLINE_HTTP_LISTEN", format!("127.0.0.1:{http_port}")));
        let wattline = Wattline {
            program,
            folder: servers.folder().to_owned(),
            settings,
        };
        wattline.prepare(fleet)?;
        let mut roles = Self {
            wattline,
            roles: Vec::new(),
            http_port,
            client: reqwest::Client::new(),
        };
        for name in ["bridge", "aggregator", "api"] {
            let role = roles.wattline.start(name)?;
            roles.roles.push(role);
        }
        for role in &mut roles.roles {
            role.ready(&roles.client).await?;
        }
        Ok(roles)
    }

    /// Ends a role at once.
    pub(crate) fn end(&mut self, name: &str) {
        self.roles.retain(|role| role.name() != name);
    }

    /// Starts a role that was ended, and returns when it is ready.
    pub(crate) async fn begin(&mut self, name: &'static str) -> Outcome<()> {
        let mut role = self.wattline.start(name)?;
        role.ready(&self.client).await?;
        self.roles.push(role);
        Ok(())
    }

    /// Where the public API listens.
    pub(crate) const fn http_port(&self) -> u16 {
        self.http_port
    }

    /// The roles by name, with their processes' numbers.
    pub(crate) fn processes(&self) -> Vec<(&'static str, Option<u32>)> {
        let role = |role: &Role| (role.name(), Some(role.id()));
        self.roles.iter().map(role).collect()
    }

    /// The most memory that each has ever had.
    pub(crate) fn peak_memory(&self) -> Outcome<Vec<PeakMemory>> {
        let peak = |role: &Role| {
            Ok(PeakMemory {
                process: role.name(),
                peak_mb: role.peak_memory_mb()?,
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
