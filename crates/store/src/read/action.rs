//! Actions and what became of them.

use crate::instant::Instant;
use crate::{Store, StoreFailure};
use domain::control::Status;
use domain::time::Timestamp;
use sqlx::Row;
use sqlx::postgres::PgRow;
use uuid::Uuid;

/// An action and its fate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeptAction {
    /// Its place in the order of acceptance.
    pub number: i64,
    /// Identity.
    pub action_uuid: Uuid,
    /// When it was accepted.
    pub created_at: Timestamp,
    /// Who asked.
    pub username: String,
    /// The body as it was sent: a JSON object.
    pub body: String,
    /// How far it has come.
    pub status: Status,
    /// When it was over; `None` while it is in force.
    pub ended_at: Option<Timestamp>,
    /// Every step of its fate, in the order of time.
    pub history: Vec<ActionStep>,
}

/// A step of an action's fate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ActionStep {
    /// How far the action came.
    pub status: Status,
    /// When.
    pub at: Timestamp,
    /// Why, in words for people.
    pub detail: String,
}

impl Store {
    /// A page of a building's actions, newest first; with `before` only those that were accepted
    /// before the one with this number.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn actions(
        &self,
        building: Uuid,
        before: Option<i64>,
        limit: usize,
    ) -> Result<Vec<KeptAction>, StoreFailure> {
        let statement = sqlx::query(include_str!("../queries/actions.sql"))
            .bind(building)
            .bind(before)
            .bind(i64::try_from(limit).unwrap_or(i64::MAX));
        self.rows(statement).await?.iter().map(kept).collect()
    }

    /// One of a building's actions.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn action(
        &self,
        building: Uuid,
        action_uuid: Uuid,
    ) -> Result<Option<KeptAction>, StoreFailure> {
        let statement = sqlx::query(include_str!("../queries/action.sql"))
            .bind(building)
            .bind(action_uuid);
        self.row(statement).await?.as_ref().map(kept).transpose()
    }
}

fn kept(row: &PgRow) -> Result<KeptAction, StoreFailure> {
    let Instant(created_at) = row.try_get("created_at")?;
    let ended_at: Option<Instant> = row.try_get("ended_at")?;
    Ok(KeptAction {
        number: row.try_get("number")?,
        action_uuid: row.try_get("action_uuid")?,
        created_at,
        username: row.try_get("username")?,
        body: row.try_get("body")?,
        status: status(row.try_get("status")?)?,
        ended_at: ended_at.map(|it| it.0),
        history: history(row)?,
    })
}

/// The steps of a row's action; none has null in place of arrays.
fn history(row: &PgRow) -> Result<Vec<ActionStep>, StoreFailure> {
    let statuses: Option<Vec<String>> = row.try_get("statuses")?;
    let times: Option<Vec<Instant>> = row.try_get("times")?;
    let details: Option<Vec<String>> = row.try_get("details")?;
    let steps = statuses
        .into_iter()
        .flatten()
        .zip(times.into_iter().flatten())
        .zip(details.into_iter().flatten());
    let step = |((word, Instant(at)), detail): ((String, Instant), String)| {
        Ok(ActionStep {
            status: status(&word)?,
            at,
            detail,
        })
    };
    steps.map(step).collect()
}

/// The status that this word of the database means.
pub(crate) fn status(word: &str) -> Result<Status, StoreFailure> {
    Status::parse(word)
        .ok_or_else(|| StoreFailure::Permanent(format!("the database names status {word:?}")))
}
