//! `wattline dead-letters list|show`: what was refused, and why.

use crate::command_line::{time, with_settings};
use crate::failure::Failure;
use crate::settings::{DATABASE, LOGGING, SETTINGS};
use crate::{output, process, role};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use clap::{Arg, ArgMatches, Command, value_parser};
use domain::rejection::Reason;
use ops::settings::Settings;
use serde_json::{Value, json};
use store::{DeadLetterFilter, KeptDeadLetter, STATEMENT_TIMEOUT, Store};
use uuid::Uuid;
use wire::envelope::format_rfc3339;

/// Dead letters read from the database at a time: bounds memory, whatever their number.
const PAGE: i64 = 1_000;

pub(crate) fn command() -> Command {
    let option = |name, value, help| Arg::new(name).long(name).value_name(value).help(help);
    let filters = [
        option("reason", "REASON", "only of this reason").value_parser(reason),
        option("building", "UUID", "only of this building").value_parser(value_parser!(Uuid)),
        option(
            "since",
            "TIME",
            "only received at this time (RFC 3339) or later",
        )
        .value_parser(time),
        option("until", "TIME", "only received before this time (RFC 3339)").value_parser(time),
    ];
    let format = option("format", "FORMAT", "text, or json: one object a line")
        .value_parser(["text", "json"])
        .default_value("text");
    Command::new("dead-letters")
        .about("What was refused, and why")
        .subcommand_required(true)
        .subcommand(
            with_settings(
                "list",
                "Lists dead letters, oldest first",
                &[LOGGING, DATABASE],
            )
            .args(filters)
            .arg(format),
        )
        .subcommand(
            with_settings(
                "show",
                "Shows one dead letter with its bytes",
                &[LOGGING, DATABASE],
            )
            .arg(
                Arg::new("id")
                    .value_name("ID")
                    .required(true)
                    .value_parser(value_parser!(i64)),
            ),
        )
}

fn reason(text: &str) -> Result<Reason, String> {
    Reason::parse(text).ok_or_else(|| {
        let known: Vec<&str> = Reason::ALL.iter().map(|reason| reason.as_str()).collect();
        format!("expected one of {}", known.join(", "))
    })
}

pub(crate) fn run(matches: &ArgMatches) -> Result<(), Failure> {
    let Some((name, matches)) = matches.subcommand() else {
        return Err(Failure::Usage(
            "expected dead-letters list or show".to_owned(),
        ));
    };
    let settings = Settings::from_matches(SETTINGS, matches, &ops::settings::environment())?;
    process::start_logging(&settings)?;
    process::block_on(async {
        let store = role::store(&settings, 1, STATEMENT_TIMEOUT)?;
        match name {
            "show" => match matches.get_one::<i64>("id") {
                Some(id) => show(&store, *id).await,
                None => Err(Failure::Usage(
                    "dead-letters show: an ID is expected".to_owned(),
                )),
            },
            _ => list(&store, matches).await,
        }
    })
}

async fn list(store: &Store, matches: &ArgMatches) -> Result<(), Failure> {
    let filter = DeadLetterFilter {
        reason: matches.get_one("reason").copied(),
        building: matches.get_one("building").copied(),
        since: matches.get_one("since").copied(),
        until: matches.get_one("until").copied(),
    };
    let as_json = matches
        .get_one::<String>("format")
        .is_some_and(|format| format == "json");
    let mut after = 0;
    loop {
        let page = store.dead_letters(&filter, after, PAGE).await?;
        for kept in &page {
            after = kept.id;
            let line = if as_json {
                describe(kept).to_string()
            } else {
                text(kept)
            };
            output::line(&line)?;
        }
        if page.is_empty() {
            return Ok(());
        }
    }
}

async fn show(store: &Store, id: i64) -> Result<(), Failure> {
    let kept = store
        .dead_letter(id)
        .await?
        .ok_or_else(|| Failure::Running(format!("there is no dead letter {id}")))?;
    let mut shown = describe(&kept);
    shown["payload_base64"] = STANDARD.encode(kept.payload.unwrap_or_default()).into();
    Ok(output::line(&shown.to_string())?)
}

fn describe(kept: &KeptDeadLetter) -> Value {
    json!({
        "id": kept.id,
        "reason": kept.reason,
        "pointer": kept.pointer,
        "detail": kept.detail,
        "source": kept.source,
        "building_uuid": kept.building,
        "received_at": format_rfc3339(kept.received_at),
        "size": kept.size,
    })
}

fn text(kept: &KeptDeadLetter) -> String {
    format!(
        "{}  {}  {}  {}  {}  {}",
        kept.id,
        format_rfc3339(kept.received_at),
        kept.reason,
        if kept.pointer.is_empty() {
            "-"
        } else {
            &kept.pointer
        },
        kept.source,
        kept.detail,
    )
}
