//! A building's control state as the database keeps it.

use crate::StoreFailure;
use crate::control::fate::Happened;
use crate::instant::Instant;
use domain::control::state::{MOST_ENTRIES, Surroundings};
use domain::control::{Cause, Changed, Happening, State};
use domain::grid_limit::GridLimit;
use domain::time::Timestamp;
use sqlx::postgres::PgRow;
use sqlx::{PgConnection, Row};
use std::collections::HashMap;
use std::time::Duration;
use uuid::Uuid;

/// How far the clocks of two machines may be apart without harm.
const CLOCKS_DIFFER_BY: Duration = Duration::from_secs(5);

/// A control state whose row is locked.
#[derive(Clone, Debug)]
pub(crate) struct Kept {
    pub(crate) building: Uuid,
    pub(crate) revision: i64,
    /// When the revision came about, by the clock of the machine that made it.
    issued_at: Timestamp,
    pub(crate) state: State,
    pub(crate) surroundings: Surroundings,
    /// The actions without an entry when the row was read: a report from before they were over may tell of
    /// them still.
    pub(crate) without_entry: Vec<Uuid>,
    /// Whether the building is one to its users.
    pub(crate) is_disabled: bool,
    /// Whether the revision was raised since the row was read.
    pub(crate) is_new: bool,
}

/// Why a row of `control_state` was not read.
pub(crate) enum NotRead {
    /// The database's answer is none.
    Failure(StoreFailure),
    /// The state is none that this binary knows: it may be corrupt, or a newer binary's.
    Unreadable { building: Uuid, cause: String },
}

impl From<sqlx::Error> for NotRead {
    fn from(error: sqlx::Error) -> Self {
        Self::Failure(error.into())
    }
}

impl From<NotRead> for StoreFailure {
    fn from(not_read: NotRead) -> Self {
        match not_read {
            NotRead::Failure(failure) => failure,
            NotRead::Unreadable { building, cause } => {
                Self::Permanent(format!("control state of building {building}: {cause}"))
            }
        }
    }
}

impl Kept {
    /// Reads a row of `control_state`; its surroundings are added by [`with_surroundings`].
    pub(crate) fn of(row: &PgRow) -> Result<Self, NotRead> {
        let building = row.try_get("building_uuid")?;
        let state = state(building, row.try_get("state")?)?;
        let Instant(issued_at) = row.try_get("issued_at")?;
        Ok(Self {
            building,
            revision: row.try_get("revision")?,
            issued_at,
            without_entry: state.without_entry(),
            state,
            surroundings: Surroundings::default(),
            is_disabled: false,
            is_new: false,
        })
    }

    /// As [`Kept::of`], with the building.
    pub(crate) fn by_building(row: &PgRow) -> Result<(Uuid, Self), NotRead> {
        let kept = Self::of(row)?;
        Ok((kept.building, kept))
    }

    /// Locks the building's row; `None` when there is no such building. Answers the time too, read when the
    /// row was locked: what comes after another change is not before it.
    pub(crate) async fn lock(
        connection: &mut PgConnection,
        building: Uuid,
        clock: impl Fn() -> Timestamp,
    ) -> Result<Option<(Self, Timestamp)>, StoreFailure> {
        // Who removes the building locks it before its state; so does this, since an action refers to it.
        sqlx::query("select from building where uuid = $1 for key share")
            .bind(building)
            .execute(&mut *connection)
            .await?;
        let row = sqlx::query(include_str!("../queries/lock_control_state.sql"))
            .bind(building)
            .fetch_optional(&mut *connection)
            .await?;
        let Some(row) = row else {
            return Ok(None);
        };
        let mut kept = Self::of(&row)?;
        let now = kept.not_before(clock());
        with_surroundings(connection, std::slice::from_mut(&mut kept), now).await?;
        Ok(Some((kept, now)))
    }

    /// The time that a clock tells, or that of the last revision where that is a little later: clocks of several
    /// machines differ by a little, and a clock that was an hour ahead shall rule nothing.
    fn not_before(&self, now: Timestamp) -> Timestamp {
        let ahead = self.issued_at > now && self.issued_at <= now.plus(CLOCKS_DIFFER_BY);
        if ahead { self.issued_at } else { now }
    }

    /// When the state last changed, which is not after `now`: it is never put back behind that.
    pub(crate) fn changed_at(&self, now: Timestamp) -> Timestamp {
        self.issued_at.min(now)
    }

    /// Lets happen what is due.
    pub(crate) fn advance(&mut self, now: Timestamp) -> Vec<Happened> {
        let changed = self.state.advance(&self.surroundings, now);
        self.note(changed)
    }

    /// Raises the revision if there is a new document; answers what happened to actions.
    pub(crate) fn note(&mut self, changed: Changed) -> Vec<Happened> {
        self.raise_if(changed.new_revision);
        let happened = changed.ended.into_iter().map(|ended| Happened {
            building: self.building,
            action_uuid: ended.action_uuid,
            happening: match ended.cause {
                Cause::TimeOver => Happening::TimeOver,
                Cause::Replaced => Happening::Replaced,
            },
            at: ended.at,
            detail: match ended.cause {
                Cause::TimeOver => "its time is over".to_owned(),
                Cause::Replaced => "a newer action took its place".to_owned(),
            },
        });
        happened.collect()
    }

    /// Whether the document stays within what a broker takes.
    pub(crate) fn fits(&self) -> bool {
        self.state.entries() <= MOST_ENTRIES
    }

    /// Raises the revision, once until it is saved.
    pub(crate) const fn raise_if(&mut self, new: bool) {
        if new && !self.is_new {
            self.is_new = true;
            self.revision += 1;
        }
    }
}

pub(crate) fn state(building: Uuid, json: serde_json::Value) -> Result<State, NotRead> {
    serde_json::from_value(json).map_err(|error| NotRead::Unreadable {
        building,
        cause: error.to_string(),
    })
}

/// Adds the flags of the buildings, and the occurrences that have not ended.
pub(crate) async fn with_surroundings(
    connection: &mut PgConnection,
    all: &mut [Kept],
    now: Timestamp,
) -> Result<(), StoreFailure> {
    let buildings: Vec<Uuid> = all.iter().map(|kept| kept.building).collect();
    let rows = sqlx::query(include_str!("../queries/control_flags.sql"))
        .bind(&buildings)
        .fetch_all(&mut *connection)
        .await?;
    let mut flags: HashMap<Uuid, (bool, bool)> = HashMap::new();
    for row in &rows {
        let told = (row.try_get(1)?, row.try_get(2)?);
        flags.insert(row.try_get(0)?, told);
    }
    let rows = sqlx::query(include_str!("../queries/lasting_grid_limits.sql"))
        .bind(&buildings)
        .bind(Instant(now))
        .fetch_all(connection)
        .await?;
    let mut limits: HashMap<Uuid, Vec<GridLimit>> = HashMap::new();
    for row in &rows {
        let building = row.try_get("building_uuid")?;
        let limit = crate::grid_limit::grid_limit(row)?;
        limits.entry(building).or_default().push(limit);
    }
    for kept in all {
        let (compensated, disabled) = flags.remove(&kept.building).unwrap_or_default();
        kept.is_disabled = disabled;
        kept.surroundings = Surroundings {
            consumption_compensated: compensated,
            grid_limits: limits.remove(&kept.building).unwrap_or_default(),
        };
    }
    Ok(())
}

/// Writes the states back, and what is new of them into the outbox. They were advanced until `until`: what is due
/// behind that is found again.
pub(crate) async fn save(
    connection: &mut PgConnection,
    all: &[Kept],
    until: Timestamp,
    now: Timestamp,
) -> Result<(), StoreFailure> {
    let mut buildings = Vec::with_capacity(all.len());
    let mut revisions = Vec::with_capacity(all.len());
    let mut states = Vec::with_capacity(all.len());
    let mut dues = Vec::with_capacity(all.len());
    let mut news = Vec::with_capacity(all.len());
    for kept in all {
        let state = serde_json::to_value(&kept.state)
            .map_err(|error| StoreFailure::Permanent(format!("control state: {error}")))?;
        buildings.push(kept.building);
        revisions.push(kept.revision);
        states.push(state);
        dues.push(kept.state.next_due(until).map(Instant));
        news.push(kept.is_new);
    }
    sqlx::query(include_str!("../queries/save_control_states.sql"))
        .bind(buildings)
        .bind(revisions)
        .bind(states)
        .bind(dues)
        .bind(news)
        .bind(Instant(now))
        .execute(connection)
        .await?;
    Ok(())
}
