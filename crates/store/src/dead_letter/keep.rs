//! Keeping what was refused: one statement a batch.

use super::{Letter, Refused};
use crate::StoreFailure;
use crate::instant::Instant;
use domain::rejection::Rejection;
use domain::time::Timestamp;
use sha2::{Digest, Sha256};
use sqlx::{PgConnection, Row};
use std::collections::HashSet;
use uuid::Uuid;

/// Hash of topic and payload.
type Content = [u8; 32];

/// Letters as columns, one array a column.
#[derive(Default)]
struct Columns<'a> {
    buildings: Vec<Option<Uuid>>,
    reasons: Vec<&'static str>,
    pointers: Vec<String>,
    details: Vec<String>,
    sources: Vec<String>,
    received_at: Vec<Instant>,
    traceparents: Vec<Option<String>>,
    payloads: Vec<&'a [u8]>,
    contents: Vec<&'a [u8]>,
    redelivered: Vec<bool>,
}

/// Keeps dead letters in the order of their arrival; answers which of them are new, by their place. A message
/// that is kept already is not kept twice, nor one that the broker says it may have delivered before when
/// the same bytes of the same topic are kept.
pub(crate) async fn keep_all(
    connection: &mut PgConnection,
    refused: &[&Refused],
) -> Result<Vec<bool>, StoreFailure> {
    if refused.is_empty() {
        return Ok(Vec::new());
    }
    let contents: Vec<Content> = refused.iter().map(|it| content(&it.letter)).collect();
    let first = first_of_each(refused, &contents);
    let mut columns = Columns::default();
    for place in (0..refused.len()).filter(|place| first[*place]) {
        columns.push(refused[place], &contents[place]);
    }
    let new = columns.insert(connection).await?;
    let is_new = |(place, is_first): (usize, bool)| {
        is_first && new.contains(&(contents[place], refused[place].letter.received_at))
    };
    Ok(first.into_iter().enumerate().map(is_new).collect())
}

fn content(letter: &Letter) -> Content {
    let mut digest = Sha256::new();
    digest.update(&letter.source);
    // No topic contains it.
    digest.update(b"\0");
    digest.update(&letter.payload);
    digest.finalize().into()
}

/// Whether a letter is the first of its message within the batch.
fn first_of_each(refused: &[&Refused], contents: &[Content]) -> Vec<bool> {
    let mut moments = HashSet::new();
    let mut known = HashSet::new();
    let is_first = |(refused, content): (&&Refused, &Content)| {
        let same_moment = !moments.insert((*content, refused.letter.received_at));
        let same_bytes = !known.insert(*content);
        !(same_moment || refused.letter.redelivered && same_bytes)
    };
    refused.iter().zip(contents).map(is_first).collect()
}

impl<'a> Columns<'a> {
    fn push(&mut self, refused: &'a Refused, content: &'a Content) {
        let Refused { letter, rejection } = refused;
        self.buildings.push(letter.building);
        self.reasons.push(rejection.reason.as_str());
        self.pointers.push(storable(&rejection.pointer));
        self.details.push(storable(&rejection.detail));
        self.sources.push(storable(&letter.source));
        self.received_at.push(Instant(letter.received_at));
        self.traceparents
            .push(letter.traceparent.as_deref().map(storable));
        self.payloads.push(&letter.payload);
        self.contents.push(content);
        self.redelivered.push(letter.redelivered);
    }

    async fn insert(
        &self,
        connection: &mut PgConnection,
    ) -> Result<HashSet<(Content, Timestamp)>, StoreFailure> {
        let rows = sqlx::query(include_str!("../queries/keep_dead_letters.sql"))
            .bind(&self.buildings)
            .bind(&self.reasons)
            .bind(&self.pointers)
            .bind(&self.details)
            .bind(&self.sources)
            .bind(&self.received_at)
            .bind(&self.traceparents)
            .bind(&self.payloads)
            .bind(&self.contents)
            .bind(&self.redelivered)
            .fetch_all(connection)
            .await?;
        let mut new = HashSet::with_capacity(rows.len());
        for row in &rows {
            let content: &[u8] = row.try_get("content_sha256")?;
            let Instant(received_at) = row.try_get("received_at")?;
            new.extend(Content::try_from(content).map(|content| (content, received_at)));
        }
        Ok(new)
    }
}

/// Notes what letters that were replayed are refused for now; they stay.
pub(crate) async fn refuse_again(
    connection: &mut PgConnection,
    refused: &[(i64, Rejection)],
) -> Result<(), StoreFailure> {
    if refused.is_empty() {
        return Ok(());
    }
    let ids: Vec<i64> = refused.iter().map(|(id, _)| *id).collect();
    let rejections = || refused.iter().map(|(_, rejection)| rejection);
    let reasons: Vec<&str> = rejections().map(|it| it.reason.as_str()).collect();
    let pointers: Vec<String> = rejections().map(|it| storable(&it.pointer)).collect();
    let details: Vec<String> = rejections().map(|it| storable(&it.detail)).collect();
    sqlx::query(include_str!("../queries/refuse_again.sql"))
        .bind(&ids)
        .bind(&reasons)
        .bind(&pointers)
        .bind(&details)
        .execute(connection)
        .await?;
    Ok(())
}

/// PostgreSQL's text cannot hold U+0000, which a JSON key may contain: shown as the replacement character, so that
/// no message can stop those behind it.
fn storable(text: &str) -> String {
    text.replace('\0', "\u{FFFD}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::rejection::Reason;

    #[test]
    fn within_a_batch_a_message_has_one_letter_and_a_redelivered_copy_none() {
        let letter = |payload: &str, second, redelivered| Refused {
            letter: Letter {
                building: None,
                source: "v1/x".to_owned(),
                received_at: Timestamp::from_seconds(second),
                traceparent: None,
                redelivered,
                payload: payload.into(),
                kept_as: None,
            },
            rejection: Rejection::new(Reason::NotJson, "", ""),
        };
        let check = |letters: &[Refused], expected: &[bool]| {
            let letters: Vec<&Refused> = letters.iter().collect();
            let contents: Vec<Content> = letters.iter().map(|it| content(&it.letter)).collect();
            assert_eq!(first_of_each(&letters, &contents), expected);
        };
        let (a, b) = (letter("a", 1, false), letter("b", 1, false));
        check(&[a.clone(), b.clone(), a.clone()], &[true, true, false]);
        check(&[a.clone(), letter("a", 2, false)], &[true, true]);
        check(&[a.clone(), letter("a", 2, true), b], &[true, false, true]);
        check(
            &[letter("a", 1, true), letter("a", 2, false)],
            &[true, true],
        );
        check(
            &[letter("a", 1, true), letter("a", 2, true)],
            &[true, false],
        );
    }
}
