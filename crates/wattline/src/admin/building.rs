//! `wattline admin building`: one building at a time.

use crate::admin::table::Table;
use crate::admin::{
    asked_run, carry_out, changing, given, listing, make, name, option, positional_uuid,
    subcommand, unknown, with_store,
};
use crate::command_line::switch;
use crate::failure::Failure;
use crate::{fleet_file, process};
use clap::{ArgMatches, Command};
use serde_json::json;
use store::{Change, FleetBuilding, ListedBuilding, Run};
use uuid::Uuid;

const COLUMNS: &[&str] = &[
    "uuid",
    "name",
    "timezone",
    "consumption_compensated_curtailment",
    "disabled",
    "sensors",
    "users",
];

pub(super) fn command() -> Command {
    let building = || positional_uuid("building", "the building");
    let timezone = option("timezone", "TZ", "IANA name: rules where a day starts")
        .default_value("UTC")
        .value_parser(fleet_file::timezone);
    Command::new("building")
        .about("Buildings")
        .subcommand_required(true)
        .subcommand(
            changing(
                "add",
                "Makes a building, or changes it to what is said here",
            )
            .arg(building())
            .arg(
                option("name", "NAME", "name for people")
                    .required(true)
                    .value_parser(name),
            )
            .arg(timezone)
            .arg(switch(
                "consumption-compensated-curtailment",
                "changes how curtailment behaves",
            )),
        )
        .subcommand(listing("list", "Lists buildings by name"))
        .subcommand(
            changing(
                "disable",
                "Refuses a building's messages and hides it from users; all its data stay",
            )
            .arg(building()),
        )
        .subcommand(changing("enable", "Undoes disable").arg(building()))
        .subcommand(
            changing(
                "remove",
                "Removes a building with its sensors, links and all its data; dead letters stay",
            )
            .arg(building())
            .arg(switch("yes", "does it; without it, only tells what goes")),
        )
}

pub(super) fn run(matches: &ArgMatches) -> Result<(), Failure> {
    match subcommand(matches)? {
        ("add", matches) => add(matches),
        ("list", matches) => list(matches),
        ("disable", matches) => disable(matches, true),
        ("enable", matches) => disable(matches, false),
        ("remove", matches) => remove(matches),
        (other, _) => Err(unknown(other)),
    }
}

fn add(matches: &ArgMatches) -> Result<(), Failure> {
    let uuid: Uuid = given(matches, "building")?;
    let building = FleetBuilding {
        uuid,
        name: given(matches, "name")?,
        timezone: given(matches, "timezone")?,
        consumption_compensated_curtailment: matches
            .get_flag("consumption-compensated-curtailment"),
        hubs: Vec::new(),
    };
    with_store(matches, async |store| {
        let change = Change::PutBuilding(building);
        let administered = store.administer(&change, asked_run(matches)).await?;
        super::difference::print(&administered, asked_run(matches))?;
        if administered
            .after
            .buildings
            .get(&uuid)
            .is_some_and(|it| it.disabled)
        {
            process::tell("the building is disabled: `wattline admin building enable` undoes it");
        }
        Ok(())
    })
}

fn list(matches: &ArgMatches) -> Result<(), Failure> {
    with_store(matches, async |store| {
        let row = |it: ListedBuilding| {
            vec![
                json!(it.uuid),
                json!(it.name),
                json!(it.timezone),
                json!(it.consumption_compensated_curtailment),
                json!(it.disabled),
                json!(it.sensors),
                json!(it.users),
            ]
        };
        let rows = store.list_buildings().await?.into_iter().map(row).collect();
        Table::new(COLUMNS, rows).print(matches)
    })
}

fn disable(matches: &ArgMatches, disabled: bool) -> Result<(), Failure> {
    let building = given(matches, "building")?;
    make(matches, &Change::DisableBuilding { building, disabled })
}

fn remove(matches: &ArgMatches) -> Result<(), Failure> {
    let change = Change::RemoveBuilding(given(matches, "building")?);
    let agreed = matches.get_flag("yes") || asked_run(matches) == Run::Dry;
    with_store(matches, async |store| {
        let run = if agreed { asked_run(matches) } else { Run::Dry };
        carry_out(store, &change, run).await
    })?;
    if agreed {
        return Ok(());
    }
    Err(Failure::Usage(
        "all that was gathered of the building would go too: --yes is expected".to_owned(),
    ))
}
