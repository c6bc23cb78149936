//! `wattline simulate`: publishes a seeded fleet over MQTT.

use crate::command_line::{number, with_settings};
use crate::failure::Failure;
use crate::settings::LOGGING;
use crate::{output, process};
use clap::{Arg, ArgMatches, Command, value_parser};
use ops::clock::Clock;
use ops::settings::Settings;
use ops::shutdown::Shutdown;
use simulator::{Config, Counts, Fleet, Limit, Scenario, Shares, Summary, Topics};
use std::path::PathBuf;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// The password of the fleet file's user, unless one is given.
pub(crate) const PASSWORD: &str = "demo-password";

pub(crate) fn command() -> Command {
    let duration = |name, help| {
        Arg::new(name)
            .long(name)
            .value_name("SPAN")
            .help(help)
            .value_parser(span)
    };
    let share = |name, help| {
        Arg::new(name)
            .long(name)
            .value_name("SHARE")
            .help(help)
            .default_value("0")
            .value_parser(value_parser!(f64))
    };
    with_settings(
        "simulate",
        "Publishes a seeded fleet over MQTT; the same seed gives the same records",
        &[LOGGING, &["mqtt_url"]],
    )
    .arg(number("seed", "1", "everything random follows from it"))
    .arg(number("buildings", "10", "how many buildings"))
    .arg(duration("interval", "time between two records of a building").default_value("1s"))
    .arg(duration(
        "duration",
        "when to end; without it, when told to",
    ))
    .arg(number(
        "connections",
        "1",
        "over how many connections the buildings are spread",
    ))
    .arg(share(
        "duplicates",
        "share of records published twice, 0 to 1",
    ))
    .arg(share(
        "late",
        "share of records published later than their time, 0 to 1",
    ))
    .arg(share(
        "invalid",
        "share of records corrupted so that they are refused, 0 to 1",
    ))
    .arg(share("gaps", "share of records never published, 0 to 1"))
    .arg(
        Arg::new("only")
            .long("only")
            .value_name("KIND")
            .help("sends telemetry and nothing else; without it readings, key-values and presence too")
            .value_parser(["telemetry"]),
    )
    .arg(
        Arg::new("fleet-file")
            .long("fleet-file")
            .value_name("OUT")
            .help("writes the matching fleet file before the first record")
            .value_parser(value_parser!(PathBuf)),
    )
}

/// A span with its unit; a bare number is seconds.
fn span(text: &str) -> Result<Duration, String> {
    ops::settings::parse_duration(text)
        .or_else(|| {
            text.parse()
                .ok()
                .and_then(|seconds| Duration::try_from_secs_f64(seconds).ok())
        })
        .ok_or_else(|| "expected a span such as 250ms, 90s, 5m, 49h or 7d".to_owned())
}

/// A line for everything, and one for each kind of record that was made.
fn describe(summary: &Summary) -> String {
    let kinds = [
        ("telemetry", summary.telemetry),
        ("readings", summary.readings),
        ("keyvalues", summary.key_values),
        ("presence", summary.presence),
        ("reported", summary.reports),
    ];
    let mut text = format!(
        "{}, acknowledged {}, repeated {}, unacknowledged {}",
        describe_counts("published", &summary.total()),
        summary.acknowledged,
        summary.repeated,
        summary.unacknowledged,
    );
    for (kind, counts) in kinds.iter().filter(|(_, counts)| counts.records > 0) {
        text.push_str("\n  ");
        text.push_str(&describe_counts(kind, counts));
    }
    text
}

fn describe_counts(what: &str, counts: &Counts) -> String {
    format!(
        "{what} {} (good {}, duplicates {}, late {}, invalid {}), missing {}",
        counts.published(),
        counts.good,
        counts.duplicates,
        counts.late,
        counts.refused(),
        counts.missing,
    )
}

pub(crate) fn run(matches: &ArgMatches, settings: &Settings) -> Result<(), Failure> {
    let scenario = scenario(matches)?;
    if let Some(path) = matches.get_one::<PathBuf>("fleet-file") {
        let fleet = Fleet::new(scenario.seed, scenario.buildings);
        let text = format!("{:#}\n", fleet.fleet_file(PASSWORD));
        std::fs::write(path, text)
            .map_err(|error| Failure::Running(format!("{}: {error}", path.display())))?;
    }
    let mut config = Config::new(settings.text("mqtt_url")?, scenario);
    config.connections = u16::try_from(count(matches, "connections")).unwrap_or(u16::MAX);
    process::block_on(async {
        let shutdown = Shutdown::on_signals();
        let token = CancellationToken::new();
        let clock = Clock::system();
        let publishing = simulator::run(config, move || clock.now_micros(), token.clone());
        tokio::pin!(publishing);
        let summary = tokio::select! {
            summary = &mut publishing => summary,
            () = shutdown.requested() => {
                token.cancel();
                publishing.await
            }
        };
        let summary = summary.map_err(|failure| Failure::Usage(failure.to_string()))?;
        Ok(output::line(&describe(&summary))?)
    })
}

fn count(matches: &ArgMatches, name: &str) -> u64 {
    matches.get_one::<u64>(name).copied().unwrap_or_default()
}

fn scenario(matches: &ArgMatches) -> Result<Scenario, Failure> {
    let share = |name: &str| matches.get_one::<f64>(name).copied().unwrap_or_default();
    let interval = matches
        .get_one::<Duration>("interval")
        .copied()
        .unwrap_or(Duration::from_secs(1));
    let buildings = usize::try_from(count(matches, "buildings"))
        .map_err(|_| Failure::Usage("--buildings: too many".to_owned()))?;
    let mut scenario = Scenario::new(count(matches, "seed"), buildings, interval);
    scenario.topics = match matches.contains_id("only") {
        true => Topics::TelemetryOnly,
        false => Topics::All,
    };
    if let Some(duration) = matches.get_one::<Duration>("duration") {
        scenario.limit = Limit::Duration(*duration);
    }
    scenario.shares = Shares {
        duplicates: share("duplicates"),
        late: share("late"),
        invalid: share("invalid"),
        gaps: share("gaps"),
    };
    scenario
        .check()
        .map_err(|bad| Failure::Usage(format!("--{bad}")))?;
    Ok(scenario)
}
