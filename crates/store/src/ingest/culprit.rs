//! Finding the messages that the database does not take, so that they stop nobody.

use super::{Incoming, Part};
use crate::StoreFailure;
use crate::dead_letter::Refused;
use domain::reading::Record;
use domain::rejection::{Reason, Rejection};
use sqlx::{Connection as _, PgConnection};
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

/// Stores what the database takes, and answers what it does not take: what is refused together is tried in
/// halves, each behind a savepoint, down to the single message. The order of arrival is kept.
pub(super) async fn store_others<'a>(
    connection: &mut PgConnection,
    records: &'a [Incoming],
    raw_retention: Duration,
) -> Result<(Part, Vec<Culprit<'a>>), StoreFailure> {
    // What would be looked at when all is committed is looked at now.
    sqlx::query("set constraints all immediate")
        .execute(&mut *connection)
        .await?;
    let mut all = Part::default();
    let mut culprits = Vec::new();
    let mut waiting = vec![records];
    while let Some(some) = waiting.pop() {
        match attempt(connection, some, raw_retention).await {
            Ok(part) => all.add(part),
            Err(StoreFailure::Refused(words)) => match some {
                [] => return Err(StoreFailure::Refused(words)),
                [incoming] => culprits.push(Culprit { incoming, words }),
                _ => {
                    let (first, second) = some.split_at(some.len() / 2);
                    waiting.extend([second, first]);
                }
            },
            Err(failure) => return Err(failure),
        }
    }
    Ok((all, culprits))
}

async fn attempt(
    connection: &mut PgConnection,
    some: &[Incoming],
    raw_retention: Duration,
) -> Result<Part, StoreFailure> {
    let mut savepoint = connection.begin().await?;
    match Part::store(&mut savepoint, some, raw_retention).await {
        Ok(part) => {
            savepoint.commit().await?;
            Ok(part)
        }
        Err(failure @ StoreFailure::Refused(_)) => {
            savepoint.rollback().await?;
            Err(failure)
        }
        Err(failure) => Err(failure),
    }
}

/// A database that refuses everything is at fault itself, and so is one that refuses all of a kind.
pub(super) fn must_be_at_fault(culprits: &[Culprit<'_>], part: &Part) -> Result<(), StoreFailure> {
    let mut refused = [0; Record::KINDS];
    for culprit in culprits {
        refused[culprit.incoming.record.kind()] += 1;
    }
    let any_taken = part.taken.iter().any(|taken| *taken > 0);
    let mut kinds = refused.iter().zip(part.taken);
    let plausible =
        kinds.all(|(refused, taken)| *refused == 0 || taken > 0 || (any_taken && *refused <= FEW));
    match culprits.first() {
        Some(culprit) if !plausible => Err(StoreFailure::Refused(culprit.words.clone())),
        Some(_) | None => Ok(()),
    }
}
