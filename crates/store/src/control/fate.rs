//! What becomes of actions: happenings in, their fates and steps out.

use crate::StoreFailure;
use crate::instant::Instant;
use domain::control::{Fate, Happening, Status};
use domain::time::Timestamp;
use sqlx::postgres::PgRow;
use sqlx::{PgConnection, Row};
use std::collections::HashMap;
use uuid::Uuid;

/// Something that happened to an action.
#[derive(Clone, Debug)]
pub(crate) struct Happened {
    pub(crate) building: Uuid,
    pub(crate) action_uuid: Uuid,
    pub(crate) happening: Happening,
    pub(crate) at: Timestamp,
    /// Why, in words for people.
    pub(crate) detail: String,
}

/// The actions of some buildings that are in question, with their fates; the buildings are locked.
#[derive(Default)]
pub(crate) struct Fates {
    before: HashMap<(Uuid, Uuid), Fate>,
    after: HashMap<(Uuid, Uuid), Fate>,
    steps: Vec<Step>,
}

struct Step {
    action: (Uuid, Uuid),
    status: Status,
    at: Timestamp,
    detail: String,
}

impl Fates {
    /// Those that the happenings name.
    pub(crate) async fn of(
        connection: &mut PgConnection,
        happened: &[Happened],
    ) -> Result<Self, StoreFailure> {
        let mut fates = Self::default();
        fates.load(connection, happened).await?;
        Ok(fates)
    }

    async fn load(
        &mut self,
        connection: &mut PgConnection,
        happened: &[Happened],
    ) -> Result<(), StoreFailure> {
        if happened.is_empty() {
            return Ok(());
        }
        let named = happened.iter().map(|it| (it.building, it.action_uuid));
        let (buildings, actions): (Vec<Uuid>, Vec<Uuid>) = named.unzip();
        let rows = sqlx::query(include_str!("../queries/fates.sql"))
            .bind(buildings)
            .bind(actions)
            .fetch_all(connection)
            .await?;
        for row in &rows {
            let action = (row.try_get("building_uuid")?, row.try_get("action_uuid")?);
            self.before.insert(action, fate(row)?);
        }
        Ok(())
    }

    /// Adds an action whose fate was read already.
    pub(crate) fn know(&mut self, action: (Uuid, Uuid), fate: Fate) {
        self.before.insert(action, fate);
    }

    /// Applies a happening; answers whether it changed anything. What the controller knows the broker had, also
    /// where that is noted later.
    pub(crate) fn apply(&mut self, happened: Happened) -> bool {
        let by_controller = match happened.happening {
            Happening::Delivered | Happening::Reported(_) | Happening::Seen => true,
            Happening::Published | Happening::Done | Happening::TimeOver | Happening::Replaced => {
                false
            }
        };
        if by_controller {
            self.step(Happened {
                happening: Happening::Published,
                detail: "the controller has it".to_owned(),
                ..happened.clone()
            });
        }
        self.step(happened)
    }

    fn step(&mut self, happened: Happened) -> bool {
        let action = (happened.building, happened.action_uuid);
        let known = self.after.get(&action).or_else(|| self.before.get(&action));
        let Some(new) = known.and_then(|fate| fate.after(happened.happening, happened.at)) else {
            return false;
        };
        let is_step = known.is_none_or(|fate| fate.status != new.status);
        self.after.insert(action, new);
        if is_step {
            self.steps.push(Step {
                action,
                status: new.status,
                at: happened.at,
                detail: happened.detail,
            });
        }
        true
    }

    /// Writes what has changed.
    pub(crate) async fn write(self, connection: &mut PgConnection) -> Result<(), StoreFailure> {
        if self.after.is_empty() {
            return Ok(());
        }
        let (mut buildings, mut actions) = (Vec::new(), Vec::new());
        let (mut statuses, mut ends) = (Vec::new(), Vec::new());
        for ((building, action), fate) in &self.after {
            buildings.push(*building);
            actions.push(*action);
            statuses.push(fate.status.as_str());
            ends.push(fate.ended_at.map(Instant));
        }
        sqlx::query(include_str!("../queries/save_fates.sql"))
            .bind(buildings)
            .bind(actions)
            .bind(statuses)
            .bind(ends)
            .execute(&mut *connection)
            .await?;
        write_steps(connection, &self.steps).await
    }
}

async fn write_steps(connection: &mut PgConnection, steps: &[Step]) -> Result<(), StoreFailure> {
    let buildings: Vec<Uuid> = steps.iter().map(|it| it.action.0).collect();
    let actions: Vec<Uuid> = steps.iter().map(|it| it.action.1).collect();
    let statuses: Vec<&str> = steps.iter().map(|it| it.status.as_str()).collect();
    let times: Vec<Instant> = steps.iter().map(|it| Instant(it.at)).collect();
    let details: Vec<&str> = steps.iter().map(|it| it.detail.as_str()).collect();
    sqlx::query(include_str!("../queries/insert_action_steps.sql"))
        .bind(buildings)
        .bind(actions)
        .bind(statuses)
        .bind(times)
        .bind(details)
        .execute(connection)
        .await?;
    Ok(())
}

/// Loads, applies and writes.
pub(crate) async fn happen(
    connection: &mut PgConnection,
    happened: Vec<Happened>,
) -> Result<(), StoreFailure> {
    let mut fates = Fates::of(connection, &happened).await?;
    for one in happened {
        fates.apply(one);
    }
    fates.write(connection).await
}

/// Reads `status` and `ended_at`.
pub(crate) fn fate(row: &PgRow) -> Result<Fate, StoreFailure> {
    let word: &str = row.try_get("status")?;
    let status = Status::parse(word)
        .ok_or_else(|| StoreFailure::Permanent(format!("an action's status is {word}")))?;
    let ended_at: Option<Instant> = row.try_get("ended_at")?;
    Ok(Fate {
        status,
        ended_at: ended_at.map(|Instant(at)| at),
    })
}
