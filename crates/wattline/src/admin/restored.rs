//! `wattline admin restored`: what is to be done once after the database was restored from a backup.

use crate::admin::{now, print, with_store};
use crate::command_line::with_settings;
use crate::failure::Failure;
use crate::settings::{DATABASE, LOGGING};
use clap::{ArgMatches, Command};

pub(super) fn command() -> Command {
    with_settings(
        "restored",
        "After a backup was restored: gives every building a revision above those that controllers have seen",
        &[LOGGING, DATABASE],
    )
    .after_help(
        "Controllers pass over a desired document that is older than the one they have; without this they would \
         obey nothing until as much has changed again as since the backup. More often does no harm.",
    )
}

pub(super) fn run(matches: &ArgMatches) -> Result<(), Failure> {
    with_store(matches, async |store| {
        let buildings = store.put_revisions_ahead(now()).await?;
        print(&format!(
            "{buildings} buildings have a new revision, to be published by control"
        ))
    })
}
