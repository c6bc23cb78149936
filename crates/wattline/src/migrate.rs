//! `wattline migrate`: brings the database schema up to date.

use crate::failure::Failure;
use crate::{output, process, role};
use ops::settings::Settings;
use store::{Migrated, STATEMENT_TIMEOUT};

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
    let (version, edition) = (&migrated.server_version, &migrated.edition);
    format!("PostgreSQL {version} {edition}")
}
