//! `wattline dead-letters list|show|stats|replay`: what was refused, why, and again after a correction.

mod list;
mod progress;
mod replay;
mod stats;

use crate::command_line::{switch, time, with_settings};
use crate::failure::Failure;
use crate::settings::{DATABASE, LOGGING, RAW_RETENTION, SETTINGS};
use crate::{process, role};
use clap::{Arg, ArgMatches, Command, value_parser};
use domain::rejection::Reason;
use ops::settings::Settings;
use store::{DeadLetterFilter, STATEMENT_TIMEOUT, Standing};
use uuid::Uuid;

const REPLAYED: &str = "replayed";

pub(crate) fn command() -> Command {
    let read = |name, about| with_settings(name, about, &[LOGGING, DATABASE]);
    let replayed = || {
        switch(
            REPLAYED,
            "those that were replayed, not those still refused",
        )
    };
    Command::new("dead-letters")
        .about("What was refused, and why; and again after a correction")
        .subcommand_required(true)
        .subcommand(
            read("list", "Lists dead letters, oldest first")
                .args(filters())
                .args([replayed(), format()]),
        )
        .subcommand(
            read("show", "Shows one dead letter with its bytes").arg(ids().required(true)),
        )
        .subcommand(
            read("stats", "Counts dead letters by reason and building")
                .args(filters())
                .args([replayed(), format()]),
        )
        .subcommand(
            with_settings(
                "replay",
                "Judges dead letters anew, all that are not left out, and stores those that are refused no more",
                &[LOGGING, DATABASE, RAW_RETENTION],
            )
            .after_help(
                "Needs the database only. What is refused again stays, with its new reason. Every letter \
                 is replayed once, however often and by how many processes this is done.",
            )
            .arg(ids().num_args(0..))
            .args(filters())
            .args([
                switch("dry-run", "tells what would be done, and changes nothing"),
                format(),
            ]),
        )
}

fn ids() -> Arg {
    Arg::new("id")
        .value_name("ID")
        .value_parser(value_parser!(i64))
}

fn format() -> Arg {
    Arg::new("format")
        .long("format")
        .value_name("FORMAT")
        .help("text, or json: one object a line")
        .value_parser(["text", "json"])
        .default_value("text")
}

fn filters() -> [Arg; 4] {
    let option = |name, value, help| Arg::new(name).long(name).value_name(value).help(help);
    [
        option("reason", "REASON", "only of this reason").value_parser(reason),
        option("building", "UUID", "only of this building").value_parser(value_parser!(Uuid)),
        option(
            "since",
            "TIME",
            "only received at this time (RFC 3339) or later",
        )
        .value_parser(time),
        option("until", "TIME", "only received before this time (RFC 3339)").value_parser(time),
    ]
}

fn reason(text: &str) -> Result<Reason, String> {
    Reason::parse(text).ok_or_else(|| {
        let known: Vec<&str> = Reason::ALL.iter().map(|reason| reason.as_str()).collect();
        format!("expected one of {}", known.join(", "))
    })
}

fn filter(matches: &ArgMatches) -> DeadLetterFilter {
    DeadLetterFilter {
        reason: matches.get_one("reason").copied(),
        building: matches.get_one("building").copied(),
        since: matches.get_one("since").copied(),
        until: matches.get_one("until").copied(),
    }
}

fn standing(matches: &ArgMatches) -> Standing {
    if matches.get_flag(REPLAYED) {
        Standing::Replayed
    } else {
        Standing::Refused
    }
}

fn as_json(matches: &ArgMatches) -> bool {
    matches
        .get_one::<String>("format")
        .is_some_and(|format| format == "json")
}

pub(crate) fn run(matches: &ArgMatches) -> Result<(), Failure> {
    let Some((name, matches)) = matches.subcommand() else {
        return Err(Failure::Usage(
            "expected dead-letters list, show, stats or replay".to_owned(),
        ));
    };
    let settings = Settings::from_matches(SETTINGS, matches, &ops::settings::environment())?;
    process::start_logging(&settings)?;
    process::block_on(async {
        let store = role::store(&settings, 1, STATEMENT_TIMEOUT)?;
        let done = match name {
            "list" => list::list(&store, matches).await,
            "show" => list::show(&store, matches).await,
            "stats" => stats::run(&store, matches).await,
            "replay" => replay::run(&store, matches, &settings).await,
            other => Err(Failure::Usage(format!("unknown subcommand {other}"))),
        };
        match done {
            Ok(()) => Ok(()),
            Err(failure) => Err(role::explain(&store, failure).await),
        }
    })
}
