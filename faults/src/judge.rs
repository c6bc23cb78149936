//! Compares the database with the ledger, row by row.

mod rows;

use crate::Outcome;
use crate::arena::Arena;
use crate::ledger::{Entry, Fact, FactKind, Identity};
use crate::oracle::{self, Expected};
use rows::{Kept, Stored};
use std::collections::BTreeMap;
use std::fmt::Debug;

/// Differences that are told of each kind.
const TOLD: usize = 5;

/// What became of the messages, and what is wrong.
#[derive(Clone, Debug, Default)]
pub(crate) struct Verdict {
    /// Messages that are stored, each once.
    pub(crate) stored: usize,
    /// Messages that are kept as dead letters since a clock was wrong, and not stored.
    pub(crate) refused_by_clock: usize,
    /// Invalid messages that are kept as dead letters.
    pub(crate) kept_invalid: usize,
    /// Acknowledged messages that are nowhere.
    pub(crate) lost: usize,
    /// Messages that are there oftener than they were sent, or never were.
    pub(crate) doubled: usize,
    /// Buckets, registers and newest values that were compared.
    pub(crate) compared: usize,
    /// What differs, in words.
    pub(crate) differences: Vec<String>,
}

/// Judges what is in the database by what is in the book. `clocks_went_back` allows records to have been refused as
/// of the future.
pub(crate) async fn judge(
    arena: &Arena,
    book: &BTreeMap<Identity, Entry>,
    clocks_went_back: bool,
) -> Outcome<Verdict> {
    let stored = rows::read(arena).await?;
    let mut verdict = Verdict::default();
    let facts = account(book, &stored, clocks_went_back, &mut verdict);
    compare_rows(&oracle::expected(&facts), &stored, &mut verdict);
    Ok(verdict)
}

/// Every message is stored or a dead letter; answers with those that are stored.
fn account(
    book: &BTreeMap<Identity, Entry>,
    stored: &Stored,
    clocks_went_back: bool,
    verdict: &mut Verdict,
) -> BTreeMap<Identity, Entry> {
    let mut facts = BTreeMap::new();
    for (identity, entry) in book {
        let refused = stored.refused.get(identity).copied().unwrap_or_default();
        if identity.kind == FactKind::Invalid {
            verdict.kept_invalid += usize::from(refused > 0);
            if refused == 0 && entry.acknowledged > 0 {
                verdict.lost += 1;
                differ(verdict, "an invalid message is not kept", identity);
            }
            if refused > entry.sent {
                verdict.doubled += 1;
                differ(
                    verdict,
                    "an invalid message is kept oftener than it was sent",
                    identity,
                );
            }
            continue;
        }
        if refused > 0 && !clocks_went_back {
            differ(verdict, "a valid message was refused", identity);
        }
        if stored.identities.contains(identity) {
            verdict.stored += 1;
            facts.insert(*identity, *entry);
        } else if refused > 0 {
            verdict.refused_by_clock += 1;
        } else if entry.acknowledged > 0 {
            verdict.lost += 1;
            differ(verdict, "acknowledged and nowhere", identity);
        }
    }
    for identity in stored.identities.iter().chain(stored.refused.keys()) {
        if !book.contains_key(identity) {
            verdict.doubled += 1;
            differ(verdict, "stored and never sent", identity);
        }
    }
    for stranger in &stored.strangers {
        differ(verdict, "a dead letter that nobody sent", stranger);
    }
    facts
}

fn differ(verdict: &mut Verdict, what: &str, which: &impl Debug) {
    let same = verdict.differences.iter().filter(|it| it.starts_with(what));
    if same.count() < TOLD {
        verdict.differences.push(format!("{what}: {which:?}"));
    }
}

fn compare_rows(expected: &Expected, stored: &Stored, verdict: &mut Verdict) {
    let kept: &Kept = &stored.kept;
    compare("minute", &expected.minutes, &kept.minutes, verdict);
    compare("quarter", &expected.quarters, &kept.quarters, verdict);
    compare("day", &expected.days, &kept.days, verdict);
    compare("latest sample", &expected.latest, &kept.latest, verdict);
    compare("register", &expected.registers, &kept.registers, verdict);
    compare(
        "newest key-value",
        &expected.key_values,
        &kept.key_values,
        verdict,
    );
}

fn compare<K: Ord + Debug, V: PartialEq + Debug>(
    what: &str,
    expected: &BTreeMap<K, V>,
    kept: &BTreeMap<K, V>,
    verdict: &mut Verdict,
) {
    verdict.compared += expected.len();
    for (key, value) in expected {
        let found = kept.get(key);
        if found != Some(value) {
            let difference = format!("{key:?} is {found:?} and must be {value:?}");
            differ(verdict, what, &difference);
        }
    }
    for key in kept.keys().filter(|key| !expected.contains_key(key)) {
        differ(verdict, what, &format!("{key:?} is there and must not be"));
    }
}

impl Verdict {
    /// Whether all is as it must be.
    pub(crate) fn is_clean(&self) -> bool {
        self.lost == 0 && self.doubled == 0 && self.differences.is_empty()
    }
}

impl Fact {
    /// The kind of a message by the number that its payload carries, for those that are invalid.
    pub(crate) fn invalid_number(payload: &[u8]) -> Option<i64> {
        let text = std::str::from_utf8(payload).ok()?;
        let (_, behind) = text.split_once("invalid")?;
        let digits: String = behind
            .chars()
            .skip_while(|it| !it.is_ascii_digit())
            .take_while(char::is_ascii_digit)
            .collect();
        digits.parse().ok()
    }
}

#[cfg(test)]
mod tests;
