//! What meters' own registers read, and where one reads less than before.

use crate::StoreFailure;
use crate::instant::Instant;
use domain::register::{RegisterEvent, classify};
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
        let event = before.and_then(|before| classify(before, after));
        events.push(
            step.try_get("building_uuid")?,
            (step.try_get("sensor_id")?, step.try_get("time")?),
            event,
            (before, after),
        );
    }
    events.write(connection).await
}

/// What became of a register at each of some readings, as columns; a kind is `None` where it went on.
#[derive(Default)]
pub(crate) struct Events {
    buildings: Vec<Uuid>,
    sensors: Vec<i64>,
    times: Vec<Instant>,
    kinds: Vec<Option<&'static str>>,
    before: Vec<Option<f64>>,
    after: Vec<f64>,
}

impl Events {
    /// What happened to a sensor's register at a moment, and what it read before and there.
    pub(crate) fn push(
        &mut self,
        building: Uuid,
        (sensor, time): (i64, Instant),
        event: Option<RegisterEvent>,
        (before, after): (Option<f64>, f64),
    ) {
        self.buildings.push(building);
        self.sensors.push(sensor);
        self.times.push(time);
        self.kinds.push(event.map(RegisterEvent::as_str));
        self.before.push(before);
        self.after.push(after);
    }

    /// Takes the place of what is kept of these moments.
    pub(crate) async fn write(&self, connection: &mut PgConnection) -> Result<(), StoreFailure> {
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
