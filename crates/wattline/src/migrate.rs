//! `wattline migrate`: brings the database schema up to date.

use crate::failure::Failure;
use crate::{output, process, role};
use ops::settings::Settings;
use store::{Edition, Migrated, STATEMENT_TIMEOUT};

pub(crate) fn run(settings: &Settings) -> Result<(), Failure> {
    process::block_on(async {
        let store = role::store(settings, 1, STATEMENT_TIMEOUT)?;
        let migrated = store.migrate().await?;
        Ok(output::line(&format!(
            "schema is up to date: {}",
            describe(&migrated)
        ))?)
    })
}

/// The server in one phrase.
pub(crate) fn describe(migrated: &Migrated) -> String {
    let edition = match &migrated.edition {
        Edition::Plain => "without TimescaleDB".to_owned(),
        Edition::Timescale(version) => format!("with TimescaleDB {version}"),
    };
    format!("PostgreSQL {} {edition}", migrated.server_version)
}
