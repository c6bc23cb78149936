//! `wattline migrate`: brings the database schema up to date.

use crate::failure::Failure;
use crate::{output, process};
use ops::settings::Settings;
use store::{Edition, Migrated, Store};

pub(crate) fn run(settings: &Settings) -> Result<(), Failure> {
    let url = settings.text("database_url")?;
    process::block_on(async {
        let migrated = Store::open(&url, 1)?.migrate().await?;
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
