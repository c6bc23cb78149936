//! Roles of our program as processes of their own, in one run.

use crate::servers::Site;
use benches::Outcome;
use benches::role::{Role, Wattline};
use std::path::Path;

/// Records that are stored, and were not before.
pub(crate) const STORED: &str = "wattline_aggregator_stored_messages_total";

/// The roles of a run.
pub(crate) struct Roles {
    wattline: Wattline,
    roles: Vec<Role>,
    client: reqwest::Client,
}

impl Roles {
    /// Starts them; they get ready by themselves.
    pub(crate) fn start(program: &Path, site: &Site, names: &[&'static str]) -> Outcome<Self> {
        let wattline = site.wattline(program);
        let roles = names.iter().map(|name| wattline.start(name));
        Ok(Self {
            roles: roles.collect::<Outcome<_>>()?,
            wattline,
            client: reqwest::Client::new(),
        })
    }

    /// Waits until all are ready.
    pub(crate) async fn ready(&mut self) -> Outcome<()> {
        for role in &mut self.roles {
            role.ready(&self.client).await?;
        }
        Ok(())
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

    /// The roles by name, with their processes' numbers.
    pub(crate) fn processes(&self) -> Vec<(&'static str, u32)> {
        self.roles.iter().map(|it| (it.name(), it.id())).collect()
    }

    /// What all of them have counted in a series so far; a process that does not answer yet has counted nothing.
    pub(crate) async fn count(&mut self, series: &str) -> Outcome<u64> {
        let mut sum = 0;
        for role in &mut self.roles {
            if let Some(words) = role.last_words()? {
                return Err(words.into());
            }
            let Ok(answer) = role.ask(&self.client, "/metrics").await else {
                continue;
            };
            let text = answer.text().await?;
            let line = text.lines().find_map(|line| line.strip_prefix(series));
            let value = line.and_then(|value| value.trim().parse::<u64>().ok());
            sum += value.unwrap_or_default();
        }
        Ok(sum)
    }
}
