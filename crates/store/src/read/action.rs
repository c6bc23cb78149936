//! Actions and what became of them.

use crate::instant::Instant;
use crate::{Store, StoreFailure};
use domain::control::Status;
use domain::time::Timestamp;
use sqlx::postgres::PgRow;
use sqlx::{PgConnection, Row};
use std::collections::HashMap;
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
        let mut snapshot = self.snapshot().await?;
        let rows = sqlx::query(include_str!("../queries/actions.sql"))
            .bind(building)
            .bind(before)
            .bind(i64::try_from(limit).unwrap_or(i64::MAX))
            .fetch_all(&mut *snapshot)
            .await?;
        with_history(&mut snapshot, building, &rows).await
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
        let mut snapshot = self.snapshot().await?;
        let rows = sqlx::query(include_str!("../queries/action.sql"))
            .bind(building)
            .bind(action_uuid)
            .fetch_all(&mut *snapshot)
            .await?;
        let actions = with_history(&mut snapshot, building, &rows).await?;
        Ok(actions.into_iter().next())
    }
}

async fn with_history(
    connection: &mut PgConnection,
    building: Uuid,
    rows: &[PgRow],
) -> Result<Vec<KeptAction>, StoreFailure> {
    if rows.is_empty() {
        return Ok(Vec::new());
    }
    let uuids = rows.iter().map(|row| row.try_get("action_uuid"));
    let uuids: Vec<Uuid> = uuids.collect::<Result<_, _>>()?;
    let steps = sqlx::query(include_str!("../queries/action_steps.sql"))
        .bind(building)
        .bind(uuids)
        .fetch_all(connection)
        .await?;
    let mut histories: HashMap<Uuid, Vec<ActionStep>> = HashMap::new();
    for row in &steps {
        let of = histories.entry(row.try_get("action_uuid")?).or_default();
        of.push(step(row)?);
    }
    rows.iter().map(|row| kept(row, &mut histories)).collect()
}

fn kept(
    row: &PgRow,
    histories: &mut HashMap<Uuid, Vec<ActionStep>>,
) -> Result<KeptAction, StoreFailure> {
    let action_uuid = row.try_get("action_uuid")?;
    let Instant(created_at) = row.try_get("created_at")?;
    let ended_at: Option<Instant> = row.try_get("ended_at")?;
    Ok(KeptAction {
        number: row.try_get("number")?,
        action_uuid,
        created_at,
        username: row.try_get("username")?,
        body: row.try_get("body")?,
        status: status(row.try_get("status")?)?,
        ended_at: ended_at.map(|it| it.0),
        history: histories.remove(&action_uuid).unwrap_or_default(),
    })
}

fn step(row: &PgRow) -> Result<ActionStep, StoreFailure> {
    let Instant(at) = row.try_get("at")?;
    Ok(ActionStep {
        status: status(row.try_get("status")?)?,
        at,
        detail: row.try_get("detail")?,
    })
}

/// The status that this word of the database means.
pub(crate) fn status(word: &str) -> Result<Status, StoreFailure> {
    Status::parse(word)
        .ok_or_else(|| StoreFailure::Permanent(format!("the database names status {word:?}")))
}
