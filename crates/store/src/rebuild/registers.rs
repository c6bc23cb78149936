//! What a building's own registers read in a day, and what happened to them.

use super::Rebuilt;
use crate::StoreFailure;
use crate::ingest::registers::Events;
use crate::instant::Instant;
use domain::register::{RegisterEvent, classify};
use domain::time::Timestamp;
use sqlx::postgres::PgRow;
use sqlx::{PgConnection, Row};
use uuid::Uuid;

pub(super) async fn rebuild(
    connection: &mut PgConnection,
    building: Uuid,
    start: Timestamp,
    until: Timestamp,
    rebuilt: &mut Rebuilt,
) -> Result<(), StoreFailure> {
    let amended: i64 = sqlx::query(include_str!("../queries/amend_register_readings.sql"))
        .bind(building)
        .bind(Instant(start))
        .bind(Instant(until))
        .fetch_one(&mut *connection)
        .await?
        .try_get(0)?;
    rebuilt.register_readings += amended.unsigned_abs();
    if wrong(connection, building, start, until).await?.is_empty() {
        return Ok(());
    }
    // A batch tells anew what happened at the readings behind its own: it has to wait.
    sqlx::query("select from sensor where building_uuid = $1 order by id for update")
        .bind(building)
        .execute(&mut *connection)
        .await?;
    let wrong = wrong(connection, building, start, until).await?;
    rebuilt.register_events += wrong.len() as u64;
    let mut events = Events::default();
    for step in wrong {
        let after = step.reading.unwrap_or_default();
        events.push(
            building,
            (step.sensor, step.time),
            step.event(),
            (step.before, after),
        );
    }
    events.write(connection).await
}

/// A reading of a register, or an event without one.
struct Step {
    sensor: i64,
    time: Instant,
    reading: Option<f64>,
    before: Option<f64>,
    kept: Option<(String, f64, f64)>,
}

impl Step {
    fn event(&self) -> Option<RegisterEvent> {
        classify(self.before?, self.reading?)
    }

    fn is_wrong(&self) -> bool {
        let wanted = self.event().map(|event| event.as_str());
        let wanted = wanted.zip(self.before.zip(self.reading));
        let kept = self.kept.as_ref();
        let kept = kept.map(|(kind, before, after)| (kind.as_str(), (*before, *after)));
        wanted != kept
    }
}

impl TryFrom<&PgRow> for Step {
    type Error = sqlx::Error;

    fn try_from(row: &PgRow) -> Result<Self, sqlx::Error> {
        let kind: Option<String> = row.try_get("kind")?;
        let kept_before: Option<f64> = row.try_get("kept_before")?;
        let kept_after: Option<f64> = row.try_get("kept_after")?;
        Ok(Self {
            sensor: row.try_get("sensor_id")?,
            time: row.try_get("time")?,
            reading: row.try_get("reading")?,
            before: row.try_get("reading_before")?,
            kept: kind
                .zip(kept_before.zip(kept_after))
                .map(|(kind, (before, after))| (kind, before, after)),
        })
    }
}

async fn wrong(
    connection: &mut PgConnection,
    building: Uuid,
    start: Timestamp,
    until: Timestamp,
) -> Result<Vec<Step>, StoreFailure> {
    let rows = sqlx::query(include_str!("../queries/register_steps_of_day.sql"))
        .bind(building)
        .bind(Instant(start))
        .bind(Instant(until))
        .fetch_all(connection)
        .await?;
    let steps = rows.iter().map(|row| Ok(Step::try_from(row)?));
    let steps: Vec<Step> = steps.collect::<Result<_, StoreFailure>>()?;
    Ok(steps.into_iter().filter(Step::is_wrong).collect())
}
