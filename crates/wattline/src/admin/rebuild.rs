//! `wattline admin rebuild`: makes anew what is not what the stored records make.

use crate::admin::{asked_run, changing, must_have_building, now, option, print, with_store};
use crate::command_line::time;
use crate::failure::Failure;
use clap::{ArgAction, ArgMatches, Command, value_parser};
use store::{Period, Rebuilt, Run, Store};
use uuid::Uuid;
use wire::envelope::format_rfc3339;

pub(super) fn command() -> Command {
    changing(
        "rebuild",
        "Compares buckets, registers and newest values with the stored records, and makes anew what differs",
    )
    .after_help(
        "Whole days (UTC) are compared, a transaction each; it may run beside the service, be stopped and be \
         repeated. What is older than records are kept cannot be compared and stays as it is.",
    )
    .args([
        option("building", "UUID", "only of this building; may be repeated")
            .value_parser(value_parser!(Uuid))
            .action(ArgAction::Append),
        option("since", "TIME", "from the day of this time (RFC 3339) on").value_parser(time),
        option("until", "TIME", "to the day before this time (RFC 3339), or with it").value_parser(time),
    ])
}

pub(super) fn run(matches: &ArgMatches) -> Result<(), Failure> {
    let period = Period {
        since: matches.get_one("since").copied(),
        until: matches.get_one("until").copied(),
    };
    if let (Some(since), Some(until)) = (period.since, period.until)
        && since > until
    {
        let wrong = "admin rebuild: --until must not be before --since";
        return Err(Failure::Usage(wrong.to_owned()));
    }
    let run = asked_run(matches);
    with_store(matches, async |store| {
        let buildings = buildings(store, matches).await?;
        let horizon = store.raw_horizon().await?;
        let mut all = Rebuilt::default();
        for (number, building) in buildings.iter().enumerate() {
            let rebuilt = store.rebuild(*building, period, now(), run).await?;
            let of = format!("{} of {}", number + 1, buildings.len());
            let (rows, days) = (rebuilt.rows(), rebuilt.days);
            print(&format!(
                "building {building} ({of}): {days} days, {rows} rows differed"
            ))?;
            all.add(&rebuilt);
        }
        tell(&all, run)?;
        match horizon {
            Some(horizon) if period.since.is_none_or(|since| since < horizon) => print(&format!(
                "what is from before {} has no records any more and is left as it is",
                format_rfc3339(horizon)
            )),
            Some(_) | None => Ok(()),
        }
    })
}

/// Those that were asked for, all of them there; else all.
async fn buildings(store: &Store, matches: &ArgMatches) -> Result<Vec<Uuid>, Failure> {
    let Some(asked) = matches.get_many::<Uuid>("building") else {
        let all = store.list_buildings().await?;
        return Ok(all.into_iter().map(|it| it.uuid).collect());
    };
    let asked: Vec<Uuid> = asked.copied().collect();
    for building in &asked {
        must_have_building(store, *building).await?;
    }
    Ok(asked)
}

fn tell(all: &Rebuilt, run: Run) -> Result<(), Failure> {
    for (name, rows) in [
        ("minute buckets", all.minutes),
        ("quarter buckets", all.quarters),
        ("day buckets", all.day_buckets),
        ("means of quarters", all.value_quarters),
        ("readings of registers", all.register_readings),
        ("events of registers", all.register_events),
        ("newest values", all.newest),
    ] {
        if rows > 0 {
            print(&format!("~ {name}: {rows}"))?;
        }
    }
    let done = match run {
        Run::Real => "put right",
        Run::Dry => "would be put right",
    };
    match all.rows() {
        0 => print("everything is what the stored records make"),
        rows => print(&format!("{rows} rows {done}")),
    }
}
