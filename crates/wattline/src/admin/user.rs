//! `wattline admin user`: one user at a time.

use crate::admin::table::Table;
use crate::admin::{
    asked_run, changing, difference, given, listing, load, make, name, now, positional, subcommand,
    unknown, with_store, with_store_of,
};
use crate::failure::Failure;
use crate::password::Password;
use crate::process;
use clap::{ArgMatches, Command};
use serde_json::json;
use store::{Change, ListedUser};

pub(super) fn command() -> Command {
    let user = || positional("user", "NAME", "the user's name");
    Command::new("user")
        .about("Users: who may log in")
        .subcommand_required(true)
        .subcommand(
            changing(
                "add",
                "Makes a user, or changes the password: asked for, or one line of standard input",
            )
            .after_help("Tokens that were handed out stay: see `wattline admin token revoke`.")
            .arg(user().value_parser(name)),
        )
        .subcommand(listing("list", "Lists users by name"))
        .subcommand(
            changing(
                "disable",
                "Ends a user's logins, refreshes and access at once; links stay",
            )
            .arg(user()),
        )
        .subcommand(changing("enable", "Undoes disable").arg(user()))
        .subcommand(changing("remove", "Removes a user with links and tokens").arg(user()))
}

pub(super) fn run(matches: &ArgMatches) -> Result<(), Failure> {
    match subcommand(matches)? {
        ("add", matches) => add(matches),
        ("list", matches) => list(matches),
        ("disable", matches) => disable(matches, true),
        ("enable", matches) => disable(matches, false),
        ("remove", matches) => make(matches, &Change::RemoveUser(given(matches, "user")?)),
        (other, _) => Err(unknown(other)),
    }
}

fn add(matches: &ArgMatches) -> Result<(), Failure> {
    let username: String = given(matches, "user")?;
    // Wrong settings are told before anybody types a password.
    let settings = load(matches)?;
    settings.text("database_url")?;
    let password = Password::ask(&username)?;
    with_store_of(&settings, async |store| {
        let kept = store.login(&username).await?;
        let password_hash = password.hash_unless_kept(kept.as_ref())?;
        let change = Change::PutUser {
            username,
            password_hash,
        };
        let run = asked_run(matches);
        difference::print(&store.administer(&change, run).await?, run)?;
        if kept.is_some_and(|login| login.disabled) {
            process::tell("the user is disabled: `wattline admin user enable` undoes it");
        }
        Ok(())
    })
}

fn list(matches: &ArgMatches) -> Result<(), Failure> {
    with_store(matches, async |store| {
        let row = |it: ListedUser| {
            vec![
                json!(it.username),
                json!(it.disabled),
                json!(it.buildings),
                json!(it.outstanding_tokens),
            ]
        };
        let users = store.list_users(now()).await?;
        let rows = users.into_iter().map(row).collect();
        let columns = &["username", "disabled", "buildings", "outstanding_tokens"];
        Table::new(columns, rows).print(matches)
    })
}

fn disable(matches: &ArgMatches, disabled: bool) -> Result<(), Failure> {
    let username = given(matches, "user")?;
    make(matches, &Change::DisableUser { username, disabled })
}
