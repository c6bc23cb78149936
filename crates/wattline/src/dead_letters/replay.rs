//! `dead-letters replay`: again after a correction.

use super::progress::Progress;
use super::{as_json, filter};
use crate::failure::Failure;
use crate::{output, process};
use aggregator::batch::judge_again;
use clap::ArgMatches;
use domain::rejection::{Reason, Rejection};
use domain::time::Timestamp;
use ops::clock::Clock;
use ops::settings::Settings;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use store::{AskedLetters, ReplayedPage, Run, Store};

/// What became of all that was asked for; the same whether it was done or only told.
#[derive(Default)]
struct Summary {
    stored: u64,
    duplicates: u64,
    refused: BTreeMap<Reason, u64>,
}

pub(super) async fn run(
    store: &Store,
    matches: &ArgMatches,
    settings: &Settings,
) -> Result<(), Failure> {
    let asked = asked(matches);
    must_exist(store, &asked).await?;
    let raw_retention = settings.duration("raw_retention")?;
    let run = if matches.get_flag("dry-run") {
        Run::Dry
    } else {
        Run::Real
    };
    let mut progress = Progress::new(store.count_dead_letters(&asked).await?);
    let clock = Clock::system();
    let mut summary = Summary::default();
    let mut after = None;
    loop {
        let now = Timestamp::from_micros(clock.now_micros());
        let page = store
            .replay_dead_letters(&asked, after, raw_retention, now, run, judge_again)
            .await?;
        let Some(page) = page else { break };
        progress.add(page.looked_at);
        summary.add(&page);
        after = Some(page.last);
        if asked.ids.is_some() && !as_json(matches) {
            tell_refused(&page.refused)?;
        }
    }
    drop(progress);
    summary.print(as_json(matches))?;
    if run == Run::Dry {
        process::tell("dry run: nothing was changed");
    }
    Ok(())
}

/// As with `list` and `stats`, all letters where nothing is left out.
fn asked(matches: &ArgMatches) -> AskedLetters {
    AskedLetters {
        ids: matches.get_many("id").map(|ids| ids.copied().collect()),
        filter: filter(matches),
    }
}

async fn must_exist(store: &Store, asked: &AskedLetters) -> Result<(), Failure> {
    let ids = asked.ids.as_deref().unwrap_or_default();
    match store.missing_dead_letters(ids).await?.first() {
        Some(id) => Err(Failure::Running(format!("there is no dead letter {id}"))),
        None => Ok(()),
    }
}

/// Which letters of those that were named are refused again, and why.
fn tell_refused(refused: &[(i64, Rejection)]) -> Result<(), Failure> {
    for (id, rejection) in refused {
        let pointer = match rejection.pointer.as_str() {
            "" => "-",
            pointer => pointer,
        };
        let (reason, detail) = (rejection.reason.as_str(), &rejection.detail);
        output::foreign_line(&format!("{id}  {reason}  {pointer}  {detail}"))?;
    }
    Ok(())
}

impl Summary {
    fn add(&mut self, page: &ReplayedPage) {
        self.stored += page.stored;
        self.duplicates += page.duplicates;
        for (_, rejection) in &page.refused {
            *self.refused.entry(rejection.reason).or_default() += 1;
        }
    }

    fn print(&self, as_json: bool) -> Result<(), Failure> {
        if as_json {
            let reasons = self.refused.iter();
            let refused: Map<String, Value> = reasons
                .map(|(reason, count)| (reason.as_str().to_owned(), Value::from(*count)))
                .collect();
            let summary =
                json!({"stored": self.stored, "duplicate": self.duplicates, "refused": refused});
            return Ok(output::line(&summary.to_string())?);
        }
        output::line(&format!("stored  {}", self.stored))?;
        output::line(&format!("duplicate  {}", self.duplicates))?;
        let refused: u64 = self.refused.values().sum();
        output::line(&format!("refused  {refused}"))?;
        for (reason, count) in &self.refused {
            output::line(&format!("refused  {count}  {}", reason.as_str()))?;
        }
        Ok(())
    }
}
