//! `wattline admin`: who and what there is, all at once from a fleet file or one at a time.

mod apply;
mod audit;
mod building;
mod difference;
mod link;
mod rebuild;
mod restored;
mod sensor;
mod table;
mod token;
mod user;

pub(crate) use apply::apply_fleet_file;

use crate::command_line::{switch, with_settings};
use crate::failure::Failure;
use crate::settings::{DATABASE, LOGGING, SETTINGS};
use crate::{output, process, role};
use clap::{Arg, ArgMatches, Command, value_parser};
use domain::time::Timestamp;
use ops::clock::Clock;
use ops::settings::Settings;
use store::{Change, Run, STATEMENT_TIMEOUT, Store};
use uuid::Uuid;

const DRY_RUN: &str = "dry-run";

pub(crate) fn command() -> Command {
    Command::new("admin")
        .about(
            "Administers buildings, sensors, users, their links and tokens, and signing keys; tells who \
             asked what",
        )
        .after_help(
            "What is so already is not changed, so commands may be repeated. Each prints the \
             difference that it makes, and with --dry-run only prints it.",
        )
        .subcommand_required(true)
        .subcommand(apply::command())
        .subcommand(building::command())
        .subcommand(sensor::command())
        .subcommand(user::command())
        .subcommand(link::command())
        .subcommand(token::command())
        .subcommand(audit::command())
        .subcommand(rebuild::command())
        .subcommand(restored::command())
}

pub(crate) fn run(matches: &ArgMatches) -> Result<(), Failure> {
    match subcommand(matches)? {
        ("apply", matches) => apply::run(matches),
        ("building", matches) => building::run(matches),
        ("sensor", matches) => sensor::run(matches),
        ("user", matches) => user::run(matches),
        ("link", matches) => link::run(matches),
        ("token", matches) => token::run(matches),
        ("audit", matches) => audit::run(matches),
        ("rebuild", matches) => rebuild::run(matches),
        ("restored", matches) => restored::run(matches),
        (other, _) => Err(unknown(other)),
    }
}

/// The subcommand that was typed, with its own arguments.
fn subcommand(matches: &ArgMatches) -> Result<(&str, &ArgMatches), Failure> {
    matches
        .subcommand()
        .ok_or_else(|| Failure::Usage("a subcommand is expected: see --help".to_owned()))
}

fn unknown(subcommand: &str) -> Failure {
    Failure::Usage(format!("unknown subcommand {subcommand}"))
}

/// A command that changes the database.
fn changing(name: &'static str, about: &'static str) -> Command {
    with_settings(name, about, &[LOGGING, DATABASE]).arg(dry_run_switch())
}

fn dry_run_switch() -> Arg {
    switch(DRY_RUN, "prints the difference and changes nothing")
}

/// A command that lists what the database has.
fn listing(name: &'static str, about: &'static str) -> Command {
    with_settings(name, about, &[LOGGING, DATABASE]).arg(table::format())
}

/// An argument without a flag.
fn positional(name: &'static str, value_name: &'static str, help: &'static str) -> Arg {
    Arg::new(name)
        .value_name(value_name)
        .help(help)
        .required(true)
}

/// An argument without a flag that is a uuid.
fn positional_uuid(name: &'static str, help: &'static str) -> Arg {
    positional(name, "UUID", help).value_parser(value_parser!(Uuid))
}

/// An option with a value.
fn option(name: &'static str, value_name: &'static str, help: &'static str) -> Arg {
    Arg::new(name).long(name).value_name(value_name).help(help)
}

/// A name as the database takes it, for clap.
fn name(text: &str) -> Result<String, &'static str> {
    domain::name::check_name(text).map(|()| text.to_owned())
}

/// A note as the database takes it, for clap.
fn note(text: &str) -> Result<String, &'static str> {
    domain::name::check_note(text).map(|()| text.to_owned())
}

/// The value of an argument that clap requires.
fn given<T: Clone + Send + Sync + 'static>(
    matches: &ArgMatches,
    argument: &str,
) -> Result<T, Failure> {
    matches
        .get_one::<T>(argument)
        .cloned()
        .ok_or_else(|| Failure::Usage(format!("{argument} is expected: see --help")))
}

fn load(matches: &ArgMatches) -> Result<Settings, Failure> {
    let settings = Settings::from_matches(SETTINGS, matches, &ops::settings::environment())?;
    process::start_logging(&settings)?;
    Ok(settings)
}

/// Does its work with the database of the settings.
fn with_store<T>(
    matches: &ArgMatches,
    work: impl AsyncFnOnce(&Store) -> Result<T, Failure>,
) -> Result<T, Failure> {
    with_store_of(&load(matches)?, work)
}

/// The same with settings that are loaded already.
fn with_store_of<T>(
    settings: &Settings,
    work: impl AsyncFnOnce(&Store) -> Result<T, Failure>,
) -> Result<T, Failure> {
    process::block_on(async {
        let store = role::store(settings, 1, STATEMENT_TIMEOUT)?;
        match work(&store).await {
            Ok(done) => Ok(done),
            Err(failure) => Err(role::explain(&store, failure).await),
        }
    })
}

/// Makes a change, or with `--dry-run` only tells it.
fn make(matches: &ArgMatches, change: &Change) -> Result<(), Failure> {
    with_store(matches, async |store| {
        carry_out(store, change, asked_run(matches)).await
    })
}

fn asked_run(matches: &ArgMatches) -> Run {
    if matches.get_flag(DRY_RUN) {
        Run::Dry
    } else {
        Run::Real
    }
}

async fn carry_out(store: &Store, change: &Change, run: Run) -> Result<(), Failure> {
    let administered = store.administer(change, run).await?;
    difference::print(&administered, run)
}

/// Refuses a building that is not there.
async fn must_have_building(store: &Store, building: Uuid) -> Result<(), Failure> {
    if store.unknown_buildings(&[building]).await?.is_empty() {
        return Ok(());
    }
    Err(Failure::Running(format!("there is no building {building}")))
}

/// Refuses a user who is not there.
async fn must_have_user(store: &Store, username: &str) -> Result<(), Failure> {
    match store.login(username).await? {
        Some(_) => Ok(()),
        None => Err(Failure::Running(format!("there is no user {username:?}"))),
    }
}

fn now() -> Timestamp {
    Timestamp::from_micros(Clock::system().now_micros())
}

/// Prints one line to standard output.
fn print(line: &str) -> Result<(), Failure> {
    Ok(output::line(line)?)
}
