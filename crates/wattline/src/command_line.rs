//! What can be typed, and which function does it.

use crate::failure::Failure;
use crate::settings::{
    AGGREGATOR, API, DATABASE, HTTP, KAFKA, LOG_MODE, LOGGING, MQTT, OPERATIONS, SETTINGS,
    SUBSCRIPTION,
};
use crate::{
    admin, check, dead_letters, demo, documents, migrate, process, role, schemas, simulate,
};
use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};
use domain::time::Timestamp;
use ops::settings::{Settings, arguments};
use std::ffi::OsString;
use std::process::ExitCode;
use wire::envelope::parse_rfc3339;

/// Does what the command line says; answers with the process's exit code.
pub fn run(arguments: impl Iterator<Item = OsString>) -> ExitCode {
    let matches = match command().try_get_matches_from(arguments) {
        Ok(matches) => matches,
        // Help and version go to standard output and are no failure; clap knows.
        Err(told) => {
            let code = u8::try_from(told.exit_code()).unwrap_or(2);
            return match told.print() {
                Ok(()) => ExitCode::from(code),
                Err(_) => ExitCode::FAILURE,
            };
        }
    };
    match dispatch(&matches) {
        Ok(code) => code,
        Err(failure) => {
            process::tell_failure(&failure);
            ExitCode::from(failure.exit_code())
        }
    }
}

fn dispatch(matches: &ArgMatches) -> Result<ExitCode, Failure> {
    let Some((name, matches)) = matches.subcommand() else {
        return Err(Failure::Usage(
            "a subcommand is expected: see wattline --help".to_owned(),
        ));
    };
    let settings = || {
        let settings = Settings::from_matches(SETTINGS, matches, &ops::settings::environment())?;
        process::start_logging(&settings)?;
        Ok::<_, Failure>(settings)
    };
    match name {
        "serve" => role::run(role::Roles::ALL, &settings()?),
        "bridge" => {
            let leaves = matches.get_flag("leave");
            let errand = if leaves {
                role::Errand::Leave
            } else {
                role::Errand::None
            };
            role::run_with(role::Roles::BRIDGE, &settings()?, errand)
        }
        "aggregator" => {
            let from = matches.get_one("from").copied();
            let errand = from.map_or(role::Errand::None, role::Errand::ReadAgain);
            role::run_with(role::Roles::AGGREGATOR, &settings()?, errand)
        }
        "control" => role::run(role::Roles::CONTROL, &settings()?),
        "api" => role::run(role::Roles::API, &settings()?),
        "demo" => demo::run(matches, &settings()?),
        "migrate" => migrate::run(&settings()?),
        "check" => check::run(&settings()?),
        "simulate" => simulate::run(matches, &settings()?),
        "admin" => admin::run(matches),
        "dead-letters" => dead_letters::run(matches),
        "schemas" => schemas::run(),
        "openapi" => documents::run_openapi(),
        "asyncapi" => documents::run_asyncapi(),
        other => Err(Failure::Usage(format!("unknown subcommand {other}"))),
    }?;
    Ok(ExitCode::SUCCESS)
}

/// A subcommand with the settings that it uses.
pub(crate) fn with_settings(
    name: &'static str,
    about: &'static str,
    groups: &[&[&'static str]],
) -> Command {
    let keys: Vec<&str> = groups.iter().copied().flatten().copied().collect();
    Command::new(name)
        .about(about)
        .args(arguments(SETTINGS, &keys))
}

/// The whole command line.
fn command() -> Command {
    let bridge: &[&[&str]] = &[LOGGING, OPERATIONS, MQTT, SUBSCRIPTION, KAFKA];
    let control: &[&[&str]] = &[LOGGING, OPERATIONS, DATABASE, MQTT];
    let aggregator: &[&[&str]] = &[LOGGING, OPERATIONS, DATABASE, KAFKA, AGGREGATOR];
    let api: &[&[&str]] = &[LOGGING, OPERATIONS, DATABASE, HTTP, API];
    let all: &[&[&str]] = &[
        LOGGING,
        OPERATIONS,
        DATABASE,
        MQTT,
        SUBSCRIPTION,
        LOG_MODE,
        KAFKA,
        AGGREGATOR,
        HTTP,
        API,
    ];
    Command::new("wattline")
        .about("Realtime telemetry of buildings, from their controllers to those who use it")
        .version(env!("CARGO_PKG_VERSION"))
        .subcommand_required(true)
        .arg_required_else_help(true)
        .subcommand(demo::command())
        .subcommand(with_settings(
            "serve",
            "Runs every role in one process",
            all,
        ))
        .subcommand(
            with_settings("bridge", "Carries messages from MQTT to Kafka", bridge).arg(switch(
                "leave",
                "subscribes to nothing, carries over what the broker keeps for WATTLINE_MQTT_CLIENT_ID, ends that session, and stops",
            )),
        )
        .subcommand(
            with_settings(
                "aggregator",
                "Stores what is on Kafka, and folds it into buckets",
                aggregator,
            )
            .arg(
                Arg::new("from")
                    .long("from")
                    .value_name("TIME")
                    .help("first has everything read again that Kafka took at this time (RFC 3339) or later: what is right stays as it is")
                    .value_parser(time),
            ),
        )
        .subcommand(with_settings(
            "control",
            "Executes what is due, and tells controllers what is desired of them",
            control,
        ))
        .subcommand(with_settings("api", "Answers over HTTP", api))
        .subcommand(with_settings(
            "migrate",
            "Brings the database schema up to date",
            &[LOGGING, DATABASE],
        ))
        .subcommand(with_settings(
            "check",
            "Connects to every server of the settings, and tells what it found",
            all,
        ))
        .subcommand(simulate::command())
        .subcommand(admin::command())
        .subcommand(dead_letters::command())
        .subcommand(Command::new("schemas").about("Prints the JSON Schemas by record name"))
        .subcommand(Command::new("openapi").about("Prints the OpenAPI document of the public API"))
        .subcommand(Command::new("asyncapi").about("Prints the AsyncAPI document of the topics"))
}

/// A moment, for clap: RFC 3339, or seconds since the epoch.
pub(crate) fn time(text: &str) -> Result<Timestamp, String> {
    parse_rfc3339(text)
        .or_else(|| text.parse().ok().map(Timestamp::from_seconds))
        .ok_or_else(|| "expected a time such as 2026-01-31T12:00:00Z".to_owned())
}

/// A switch without a value.
pub(crate) fn switch(name: &'static str, help: &'static str) -> Arg {
    Arg::new(name)
        .long(name)
        .help(help)
        .action(ArgAction::SetTrue)
}

/// An option with a whole number.
pub(crate) fn number(name: &'static str, default: &'static str, help: &'static str) -> Arg {
    Arg::new(name)
        .long(name)
        .help(help)
        .default_value(default)
        .value_parser(value_parser!(u64))
}
