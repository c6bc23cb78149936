//! `dead-letters list` and `show`.

use super::{as_json, filter, standing};
use crate::failure::Failure;
use crate::output;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use clap::ArgMatches;
use serde_json::{Value, json};
use store::{KeptDeadLetter, Store};
use wire::envelope::format_rfc3339;

/// Dead letters read from the database at a time: bounds memory, whatever their number.
const PAGE: i64 = 1_000;

pub(super) async fn list(store: &Store, matches: &ArgMatches) -> Result<(), Failure> {
    let (filter, standing) = (filter(matches), standing(matches));
    let as_json = as_json(matches);
    let mut after = None;
    loop {
        let page = store.dead_letters(&filter, standing, after, PAGE).await?;
        for kept in &page {
            after = Some((kept.received_at, kept.id));
            let line = if as_json {
                describe(kept).to_string()
            } else {
                text(kept)
            };
            output::foreign_line(&line)?;
        }
        if page.is_empty() {
            return Ok(());
        }
    }
}

pub(super) async fn show(store: &Store, matches: &ArgMatches) -> Result<(), Failure> {
    let Some(id) = matches.get_one::<i64>("id") else {
        return Err(Failure::Usage(
            "dead-letters show: an ID is expected".to_owned(),
        ));
    };
    let kept = store
        .dead_letter(*id)
        .await?
        .ok_or_else(|| Failure::Running(format!("there is no dead letter {id}")))?;
    let mut shown = describe(&kept);
    shown["payload_base64"] = STANDARD.encode(kept.payload.unwrap_or_default()).into();
    Ok(output::foreign_line(&shown.to_string())?)
}

fn describe(kept: &KeptDeadLetter) -> Value {
    let mut described = json!({
        "id": kept.id,
        "reason": kept.reason,
        "pointer": kept.pointer,
        "detail": kept.detail,
        "source": kept.source,
        "building_uuid": kept.building,
        "received_at": format_rfc3339(kept.received_at),
        "size": kept.size,
    });
    if let Some(replayed) = &kept.replayed {
        described["replayed_at"] = format_rfc3339(replayed.at).into();
        described["outcome"] = replayed.outcome.as_str().into();
    }
    described
}

fn text(kept: &KeptDeadLetter) -> String {
    let mut line = format!(
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
    );
    if let Some(replayed) = &kept.replayed {
        let (at, outcome) = (format_rfc3339(replayed.at), replayed.outcome.as_str());
        line.push_str(&format!("  (replayed {at}: {outcome})"));
    }
    line
}
