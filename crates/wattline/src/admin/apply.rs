//! `wattline admin apply`: the database matches a fleet file.

use crate::admin::{asked_run, changing, difference, given, positional, with_store};
use crate::command_line::switch;
use crate::failure::Failure;
use crate::fleet_file::FleetFile;
use clap::{ArgMatches, Command, value_parser};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use store::{Administered, Change, Fleet, Run, Store};
use uuid::Uuid;

pub(super) fn command() -> Command {
    let file = positional("file", "FILE", "fleet file: buildings, sensors, users")
        .value_parser(value_parser!(PathBuf));
    let prune = switch(
        "prune",
        "removes what the file does not name, with all its data",
    );
    changing(
        "apply",
        "Makes the database match a fleet file; the same again changes nothing",
    )
    .arg(file)
    .arg(prune)
}

pub(super) fn run(matches: &ArgMatches) -> Result<(), Failure> {
    let path: PathBuf = given(matches, "file")?;
    let file = read(&path)?;
    let (prune, run) = (matches.get_flag("prune"), asked_run(matches));
    with_store(matches, async |store| {
        let administered = apply_fleet_file(store, file, prune, run).await?;
        difference::print(&administered, run)
    })
}

fn read(path: &Path) -> Result<FleetFile, Failure> {
    let text = std::fs::read_to_string(path)
        .map_err(|error| Failure::Usage(format!("{}: {error}", path.display())))?;
    FleetFile::parse(&text).map_err(|rule| Failure::Usage(format!("{}: {rule}", path.display())))
}

/// Makes the database match a fleet file. A password that is the user's already keeps its hash, so
/// that the same file again changes nothing.
///
/// # Errors
/// A file that breaks a rule; a database that does not take it.
pub(crate) async fn apply_fleet_file(
    store: &Store,
    file: FleetFile,
    prune: bool,
    run: Run,
) -> Result<Administered, Failure> {
    let (mut fleet, passwords) = file
        .check()
        .map_err(|rule| Failure::Usage(format!("fleet file: {rule}")))?;
    check_links(store, &fleet, prune).await?;
    for (user, password) in fleet.users.iter_mut().zip(passwords) {
        let kept = store.login(&user.username).await?;
        user.password_hash = password.hash_unless_kept(kept.as_ref())?;
    }
    Ok(store
        .administer(&Change::Fleet { fleet, prune }, run)
        .await?)
}

/// Refuses a link to a building that will not be there, and names its place.
async fn check_links(store: &Store, fleet: &Fleet, prune: bool) -> Result<(), Failure> {
    let named: BTreeSet<Uuid> = fleet.buildings.iter().map(|it| it.uuid).collect();
    let links = fleet.users.iter().flat_map(|user| &user.links);
    let mut unknown: Vec<Uuid> = links
        .map(|link| link.building)
        .filter(|building| !named.contains(building))
        .collect();
    let mut why = "the file does not name, and --prune removes it";
    if !prune {
        unknown = store.unknown_buildings(&unknown).await?;
        why = "does not exist";
    }
    for (user_index, user) in fleet.users.iter().enumerate() {
        for (link_index, link) in user.links.iter().enumerate() {
            if unknown.contains(&link.building) {
                return Err(Failure::Running(format!(
                    "fleet file: /users/{user_index}/buildings/{link_index}/uuid: user {:?} is \
                     linked to building {}, which {why}",
                    user.username, link.building
                )));
            }
        }
    }
    Ok(())
}
