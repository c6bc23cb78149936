//! Finding the messages that the database does not take, so that they stop nobody.

use super::{Incoming, Part, Way};
use crate::StoreFailure;
use crate::dead_letter::Refused;
use domain::reading::Record;
use domain::rejection::{Reason, Rejection};
use sqlx::{Connection as _, PgConnection};
use std::collections::BTreeMap;
use std::time::Duration;

/// So many messages of a kind may be at fault though no other of the kind was taken beside them: two or three
/// of a rare kind are no sign of a database that takes none of it.
const FEW: usize = 10;

/// A message that the database does not take, and its words.
pub(super) struct Culprit<'a> {
    incoming: &'a Incoming,
    words: String,
}

impl From<Culprit<'_>> for Refused {
    fn from(culprit: Culprit<'_>) -> Self {
        Self {
            letter: culprit.incoming.letter.clone(),
            rejection: Rejection::new(Reason::NotStorable, "", culprit.words),
        }
    }
}

/// Stores what the database takes, and answers what it does not take.
pub(super) async fn store_others<'a>(
    connection: &mut PgConnection,
    records: &'a [Incoming],
    raw_retention: Duration,
) -> Result<(Part, Vec<Culprit<'a>>), StoreFailure> {
    // What would be looked at when all is committed is looked at now.
    sqlx::query("set constraints all immediate")
        .execute(&mut *connection)
        .await?;
    let mut savepoint = connection.begin().await?;
    match Part::store(&mut savepoint, records, raw_retention, Way::Insert).await {
        Ok(part) => {
            savepoint.commit().await?;
            return Ok((part, Vec::new()));
        }
        Err(StoreFailure::Refused(_)) => savepoint.rollback().await?,
        Err(failure) => return Err(failure),
    }
    let found = search(connection, records, raw_retention).await?;
    let others = (0..records.len()).filter(|place| !found.contains_key(place));
    let others: Vec<Incoming> = others.map(|place| records[place].clone()).collect();
    let part = Part::store(connection, &others, raw_retention, Way::Insert).await?;
    let culprits = found.into_iter().map(|(place, words)| Culprit {
        incoming: &records[place],
        words,
    });
    Ok((part, culprits.collect()))
}

/// The places of the messages that the database does not take, with its words: what is refused together is tried in
/// halves, down to the single message. Each attempt is taken back: rows that one transaction changes thousands of
/// times are slow to find.
async fn search(
    connection: &mut PgConnection,
    records: &[Incoming],
    raw_retention: Duration,
) -> Result<BTreeMap<usize, String>, StoreFailure> {
    let mut found = BTreeMap::new();
    let mut waiting = vec![(0, records.len())];
    while let Some((start, end)) = waiting.pop() {
        let mut savepoint = connection.begin().await?;
        let attempt = Part::store(
            &mut savepoint,
            &records[start..end],
            raw_retention,
            Way::Insert,
        )
        .await;
        match attempt {
            Ok(_) => savepoint.rollback().await?,
            Err(StoreFailure::Refused(words)) => {
                savepoint.rollback().await?;
                if end - start == 1 {
                    found.insert(start, words);
                } else {
                    let middle = start + (end - start) / 2;
                    waiting.extend([(start, middle), (middle, end)]);
                }
            }
            Err(failure) => return Err(failure),
        }
    }
    Ok(found)
}

/// A database that refuses everything is at fault itself, and so is one that refuses all of a kind. `has_letters`
/// says that there are dead letters beside the records: when the database takes these, it takes something.
pub(super) fn must_be_at_fault(
    culprits: &[Culprit<'_>],
    part: &Part,
    has_letters: bool,
) -> Result<(), StoreFailure> {
    let mut refused = [0; Record::KINDS];
    for culprit in culprits {
        refused[culprit.incoming.record.kind()] += 1;
    }
    let any_taken = has_letters || part.taken.iter().any(|taken| *taken > 0);
    let mut kinds = refused.iter().zip(part.taken);
    let plausible =
        kinds.all(|(refused, taken)| *refused == 0 || taken > 0 || (any_taken && *refused <= FEW));
    match culprits.first() {
        Some(culprit) if !plausible => Err(StoreFailure::Refused(culprit.words.clone())),
        Some(_) | None => Ok(()),
    }
}
