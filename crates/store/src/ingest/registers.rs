//! What meters' own registers read, and where one reads less than before.

use crate::StoreFailure;
use crate::instant::Instant;
use domain::register::classify;
use domain::time::Timestamp;
use sqlx::{PgConnection, Row};
use uuid::Uuid;

/// What a register read.
#[derive(Clone, Copy)]
pub(super) struct RegisterReading {
    pub(super) building: Uuid,
    pub(super) sensor: i64,
    pub(super) time: Timestamp,
    pub(super) reading: f64,
}

/// Stores new readings of registers, and tells anew what happened to the register at them and at
/// those that follow them.
pub(super) async fn store(
    connection: &mut PgConnection,
    readings: &[RegisterReading],
) -> Result<(), StoreFailure> {
    if readings.is_empty() {
        return Ok(());
    }
    let buildings: Vec<Uuid> = readings.iter().map(|it| it.building).collect();
    let sensors: Vec<i64> = readings.iter().map(|it| it.sensor).collect();
    let times: Vec<Instant> = readings.iter().map(|it| Instant(it.time)).collect();
    let values: Vec<f64> = readings.iter().map(|it| it.reading).collect();
    sqlx::query(include_str!("../queries/insert_register_readings.sql"))
        .bind(&buildings)
        .bind(&sensors)
        .bind(&times)
        .bind(&values)
        .execute(&mut *connection)
        .await?;
    let steps = sqlx::query(include_str!("../queries/register_steps.sql"))
        .bind(&buildings)
        .bind(&sensors)
        .bind(&times)
        .fetch_all(&mut *connection)
        .await?;
    let mut events = Events::default();
    for step in &steps {
        let after: f64 = step.try_get("reading")?;
        let before: Option<f64> = step.try_get("reading_before")?;
        events.buildings.push(step.try_get("building_uuid")?);
        events.sensors.push(step.try_get("sensor_id")?);
        events.times.push(step.try_get("time")?);
        let event = before.and_then(|before| classify(before, after));
        events.kinds.push(event.map(|event| event.as_str()));
        events.before.push(before);
        events.after.push(after);
    }
    events.write(connection).await
}

/// What became of a register at each of some readings, as columns; a kind is `None` where it went on.
#[derive(Default)]
struct Events {
    buildings: Vec<Uuid>,
    sensors: Vec<i64>,
    times: Vec<Instant>,
    kinds: Vec<Option<&'static str>>,
    before: Vec<Option<f64>>,
    after: Vec<f64>,
}

impl Events {
    async fn write(&self, connection: &mut PgConnection) -> Result<(), StoreFailure> {
        sqlx::query(include_str!("../queries/forget_register_events.sql"))
            .bind(&self.buildings)
            .bind(&self.sensors)
            .bind(&self.times)
            .execute(&mut *connection)
            .await?;
        sqlx::query(include_str!("../queries/insert_register_events.sql"))
            .bind(&self.buildings)
            .bind(&self.sensors)
            .bind(&self.times)
            .bind(&self.kinds)
            .bind(&self.before)
            .bind(&self.after)
            .execute(&mut *connection)
            .await?;
        Ok(())
    }
}
