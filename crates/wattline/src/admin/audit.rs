//! `wattline admin audit`: who asked what, when and from where, and what became of it.

use crate::admin::table::{Table, as_json};
use crate::admin::{given, listing, option, with_store};
use crate::command_line::time;
use crate::failure::Failure;
use clap::{ArgMatches, Command, value_parser};
use domain::control::Status;
use serde_json::{Value, json};
use store::{AuditEntry, AuditFilter};
use uuid::Uuid;
use wire::envelope::format_rfc3339;

const COLUMNS: &[&str] = &[
    "at",
    "username",
    "address",
    "building_uuid",
    "operation",
    "subject",
    "status",
    "ended_at",
    "detail",
];

/// Most entries of one list: they are all in memory, for the columns.
const MOST: i64 = 100_000;

/// Characters of a body that a line of the table shows.
const DETAIL_CHARACTERS: usize = 80;

pub(super) fn command() -> Command {
    listing(
        "audit",
        "Lists who asked what, when and from where, and what became of it; newest first",
    )
    .after_help(
        "status and ended_at are those of an action as long as it is kept; detail is the body as it was \
         sent, or the occurrence of the grid limit schedule, cut short in the text form.",
    )
    .args([
        option("building", "UUID", "only of this building").value_parser(value_parser!(Uuid)),
        option("user", "NAME", "only of this user"),
        option("since", "TIME", "only at this time (RFC 3339) or later").value_parser(time),
        option("until", "TIME", "only before this time (RFC 3339)").value_parser(time),
        option("limit", "NUMBER", "at most so many")
            .default_value("100")
            .value_parser(value_parser!(i64).range(1..=MOST)),
    ])
}

pub(super) fn run(matches: &ArgMatches) -> Result<(), Failure> {
    let filter = AuditFilter {
        building: matches.get_one("building").copied(),
        username: matches.get_one("user").cloned(),
        since: matches.get_one("since").copied(),
        until: matches.get_one("until").copied(),
    };
    let limit = given(matches, "limit")?;
    let detail = if as_json(matches) { whole } else { short };
    with_store(matches, async |store| {
        let entries = store.audit_entries(&filter, limit).await?;
        let rows = entries.into_iter().map(|entry| row(entry, detail));
        Table::new(COLUMNS, rows.collect()).print(matches)
    })
}

fn row(entry: AuditEntry, detail: fn(String) -> Value) -> Vec<Value> {
    vec![
        json!(format_rfc3339(entry.at)),
        json!(entry.username),
        json!(entry.address),
        json!(entry.building),
        json!(entry.operation),
        json!(entry.subject),
        json!(entry.status.map(Status::as_str)),
        json!(entry.ended_at.map(format_rfc3339)),
        detail(entry.detail),
    ]
}

/// The object itself.
fn whole(detail: String) -> Value {
    // What no double can hold may stand in it where a key comes twice.
    serde_json::from_str(&detail).unwrap_or(Value::String(detail))
}

/// Its beginning on one line.
fn short(detail: String) -> Value {
    let line = detail.split_whitespace().collect::<Vec<_>>().join(" ");
    let Some((end, _)) = line.char_indices().nth(DETAIL_CHARACTERS) else {
        return Value::String(line);
    };
    let shown = line.get(..end).unwrap_or_default();
    Value::String(format!("{shown}…"))
}
