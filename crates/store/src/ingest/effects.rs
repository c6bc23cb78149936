//! What new records of any kind bring about: marks for folding, and newest samples.

use crate::StoreFailure;
use crate::instant::Instant;
use crate::series::Series;
use domain::time::{Interval, Timestamp};
use sqlx::PgConnection;
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use uuid::Uuid;

/// Collected over a batch, written once, in one order of locks for all processes: minutes before
/// quarters, as folding does.
#[derive(Default)]
pub(super) struct Effects {
    minutes: BTreeSet<(Uuid, Timestamp)>,
    quarters: BTreeSet<(Uuid, Timestamp)>,
    newest: BTreeMap<(Uuid, i64), (Timestamp, i32)>,
}

impl Effects {
    /// A new sample of power.
    pub(super) fn sampled(
        &mut self,
        building: Uuid,
        series: Series,
        time: Timestamp,
        power_w: i32,
    ) {
        self.minutes
            .insert((building, time.floor(Interval::Minute)));
        match self.newest.entry((building, series.code())) {
            Entry::Vacant(vacant) => {
                vacant.insert((time, power_w));
            }
            Entry::Occupied(mut occupied) => {
                if occupied.get().0 < time {
                    occupied.insert((time, power_w));
                }
            }
        }
    }

    /// A new value of a sensor.
    pub(super) fn valued(&mut self, building: Uuid, time: Timestamp) {
        self.quarters
            .insert((building, time.floor(Interval::Quarter)));
    }

    pub(super) async fn write(self, connection: &mut PgConnection) -> Result<(), StoreFailure> {
        let minutes = include_str!("../queries/mark_minutes.sql");
        mark(connection, minutes, self.minutes).await?;
        let quarters = include_str!("../queries/mark_quarters.sql");
        mark(connection, quarters, self.quarters).await?;
        raise_latest(connection, self.newest).await
    }
}

async fn mark(
    connection: &mut PgConnection,
    statement: &'static str,
    marks: BTreeSet<(Uuid, Timestamp)>,
) -> Result<(), StoreFailure> {
    if marks.is_empty() {
        return Ok(());
    }
    let (buildings, starts): (Vec<Uuid>, Vec<Instant>) = marks
        .into_iter()
        .map(|(building, start)| (building, Instant(start)))
        .unzip();
    sqlx::query(statement)
        .bind(buildings)
        .bind(starts)
        .execute(connection)
        .await?;
    Ok(())
}

async fn raise_latest(
    connection: &mut PgConnection,
    newest: BTreeMap<(Uuid, i64), (Timestamp, i32)>,
) -> Result<(), StoreFailure> {
    if newest.is_empty() {
        return Ok(());
    }
    let mut buildings = Vec::with_capacity(newest.len());
    let mut series_codes = Vec::with_capacity(newest.len());
    let mut times = Vec::with_capacity(newest.len());
    let mut powers = Vec::with_capacity(newest.len());
    for ((building, series), (time, power_w)) in newest {
        buildings.push(building);
        series_codes.push(series);
        times.push(Instant(time));
        powers.push(power_w);
    }
    sqlx::query(include_str!("../queries/raise_latest.sql"))
        .bind(buildings)
        .bind(series_codes)
        .bind(times)
        .bind(powers)
        .execute(connection)
        .await?;
    Ok(())
}
