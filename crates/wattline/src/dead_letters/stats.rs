//! `dead-letters stats`: how many, by reason and building.

use super::{as_json, filter, standing};
use crate::failure::Failure;
use crate::output;
use clap::ArgMatches;
use serde_json::{Value, json};
use store::{Store, Tally};
use wire::envelope::format_rfc3339;

pub(super) async fn run(store: &Store, matches: &ArgMatches) -> Result<(), Failure> {
    let as_json = as_json(matches);
    let each = |tally: Tally| -> Result<(), Failure> {
        let line = if as_json {
            describe(&tally).to_string()
        } else {
            text(&tally)
        };
        Ok(output::line(&line)?)
    };
    store
        .tally_dead_letters(&filter(matches), standing(matches), each)
        .await
}

fn describe(tally: &Tally) -> Value {
    json!({
        "reason": tally.reason,
        "building_uuid": tally.building,
        "count": tally.count,
        "first_received_at": format_rfc3339(tally.first),
        "last_received_at": format_rfc3339(tally.last),
    })
}

fn text(tally: &Tally) -> String {
    format!(
        "{}  {}  {}  {}  {}",
        tally.count,
        tally.reason,
        tally
            .building
            .map_or_else(|| "-".to_owned(), |building| building.to_string()),
        format_rfc3339(tally.first),
        format_rfc3339(tally.last),
    )
}
