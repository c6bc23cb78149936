//! `wattline admin link`: what one user may do in one building.

use crate::admin::table::Table;
use crate::admin::{
    changing, given, listing, make, must_have_building, must_have_user, option, positional,
    positional_uuid, subcommand, unknown, with_store,
};
use crate::failure::Failure;
use crate::fleet_file;
use clap::{ArgMatches, Command, value_parser};
use serde_json::json;
use store::{Change, FleetLink, ListedLink};
use uuid::Uuid;

pub(super) fn command() -> Command {
    let user = || positional("user", "USER", "the user's name");
    let building = || positional_uuid("building", "the building");
    let role = option("role", "ROLE", "viewer: reads; operator: also acts")
        .required(true)
        .value_parser(fleet_file::role);
    Command::new("link")
        .about("Which user may do what in which building")
        .subcommand_required(true)
        .subcommand(
            changing("add", "Links a user to a building, or changes the role")
                .arg(user())
                .arg(building())
                .arg(role),
        )
        .subcommand(
            listing("list", "Lists links by user")
                .arg(option("user", "USER", "only of this user"))
                .arg(
                    option("building", "UUID", "only of this building")
                        .value_parser(value_parser!(Uuid)),
                ),
        )
        .subcommand(
            changing(
                "disable",
                "Removes a user's link: the building is not there for the user any more",
            )
            .visible_alias("remove")
            .arg(user())
            .arg(building()),
        )
}

pub(super) fn run(matches: &ArgMatches) -> Result<(), Failure> {
    match subcommand(matches)? {
        ("add", matches) => {
            let link = FleetLink {
                building: given(matches, "building")?,
                role: given(matches, "role")?,
            };
            let username = given(matches, "user")?;
            make(matches, &Change::PutLink { username, link })
        }
        ("list", matches) => list(matches),
        ("disable", matches) => {
            let (username, building) = (given(matches, "user")?, given(matches, "building")?);
            make(matches, &Change::RemoveLink { username, building })
        }
        (other, _) => Err(unknown(other)),
    }
}

fn list(matches: &ArgMatches) -> Result<(), Failure> {
    let user = matches.get_one::<String>("user").map(String::as_str);
    let building = matches.get_one::<Uuid>("building").copied();
    with_store(matches, async |store| {
        if let Some(user) = user {
            must_have_user(store, user).await?;
        }
        if let Some(building) = building {
            must_have_building(store, building).await?;
        }
        let row = |it: ListedLink| {
            let role = it.role.as_str();
            vec![json!(it.username), json!(it.building), json!(role)]
        };
        let links = store.list_links(user, building).await?;
        let rows = links.into_iter().map(row).collect();
        Table::new(&["username", "building_uuid", "role"], rows).print(matches)
    })
}
