//! A batch's messages by what is to be done with them: by kind, or refused.

use crate::StoreFailure;
use crate::building::kind;
use crate::dead_letter::Refused;
use crate::ingest::Incoming;
use crate::instant::Instant;
use domain::electricity::{Source, sources};
use domain::reading::{KeyValues, Readings, Record, Report, field_not_taken};
use domain::record::TelemetryRecord;
use domain::rejection::{Reason, Rejection, refuse_old};
use domain::sensor::SensorKind;
use domain::time::Timestamp;
use sqlx::{PgConnection, Row};
use std::collections::{BTreeSet, HashMap, HashSet};
use std::time::Duration;
use uuid::Uuid;

/// A message with what it says.
pub(super) type Of<'a, T> = (&'a Incoming, T);

/// The messages of a batch, in order of arrival.
#[derive(Default)]
pub(super) struct Accepted<'a> {
    pub(super) telemetry: Vec<Of<'a, &'a TelemetryRecord>>,
    /// With the ids of the sensors, in the order of the readings.
    pub(super) readings: Vec<Of<'a, (&'a Readings, Vec<i64>)>>,
    pub(super) key_values: Vec<Of<'a, &'a KeyValues>>,
    pub(super) reports: Vec<Of<'a, &'a Report>>,
    pub(super) presence: Vec<Of<'a, bool>>,
    pub(super) refused: Vec<Refused>,
    /// How many were left out since they are from before the raw horizon.
    pub(super) beyond_horizon: u64,
    /// The buildings that exist, with the sections that their telemetry has ever had.
    pub(super) reported_sections: HashMap<Uuid, i16>,
}

/// A sensor as readings see it.
struct Sensor {
    id: i64,
    kind: SensorKind,
    source: Source,
}

/// By building and sensor_uuid.
type Sensors = HashMap<(Uuid, Uuid), Sensor>;

/// By building and action_uuid.
type Actions = HashSet<(Uuid, Uuid)>;

/// What a batch's messages name and the database has.
struct Known {
    sensors: Sensors,
    actions: Actions,
    horizon: Horizon,
}

/// By clocks that are right, the horizon is further behind than what was received within this: half of
/// [`crate::RETENTION_SLACK`].
const JUST_NOW: Duration = Duration::from_secs(3_600);

/// The raw horizon: what is from before it is final, and what could tell whether it is new is dropped.
struct Horizon {
    moment: Timestamp,
    /// How long records were taken when it moved there.
    kept: Duration,
    /// What time the database has.
    database_now: Timestamp,
}

impl Horizon {
    /// Nobody moves it until the transaction ends.
    async fn hold(connection: &mut PgConnection) -> Result<Self, StoreFailure> {
        let hold =
            "select moment, kept_us, clock_timestamp() as database_now from hold_raw_horizon()";
        let row = sqlx::query(hold).fetch_one(connection).await?;
        let moment: Instant = row.try_get("moment")?;
        let database_now: Instant = row.try_get("database_now")?;
        let kept_us: i64 = row.try_get("kept_us")?;
        Ok(Self {
            moment: moment.0,
            kept: Duration::from_micros(kept_us.unsigned_abs()),
            database_now: database_now.0,
        })
    }

    /// Whether a message is from before it. It moves only to where all has been read that was received in time
    /// for it, so such a message is one that the log brings again, or a dead letter that is replayed too
    /// late. Reports are kept by control, longer.
    ///
    /// # Errors
    /// `too_old` when it was not received in time: then it is new, since records are taken longer now than
    /// before, and its minute is final. And when it was received just now: then it is new too, and the horizon
    /// was moved too far by clocks that were wrong.
    fn is_behind(&self, incoming: &Incoming) -> Result<bool, Rejection> {
        let received_at = incoming.letter.received_at;
        let time = match &incoming.record {
            Record::Telemetry(_) | Record::Readings(_) | Record::KeyValues(_) => {
                incoming.record.time()
            }
            Record::Presence { .. } => Some(received_at),
            Record::Reported(_) => None,
        };
        let Some(time) = time.filter(|time| *time < self.moment) else {
            return Ok(false);
        };
        refuse_old(time, received_at, self.kept)?;
        if received_at > self.database_now.minus(JUST_NOW) {
            return Err(too_late(incoming));
        }
        Ok(true)
    }
}

impl<'a> Accepted<'a> {
    /// Sorts a batch; its buildings and sensors are locked against deletion until it is committed.
    pub(super) async fn of(
        connection: &mut PgConnection,
        records: &'a [Incoming],
        raw_retention: Duration,
    ) -> Result<Self, StoreFailure> {
        let horizon = Horizon::hold(connection).await?;
        let mut accepted = Self {
            reported_sections: lock_buildings(connection, records).await?,
            ..Self::default()
        };
        let known = Known {
            sensors: lock_sensors(connection, records).await?,
            actions: known_actions(connection, records).await?,
            horizon,
        };
        for incoming in records {
            if let Err(rejection) = accepted.take(incoming, &known, raw_retention) {
                accepted.refused.push(Refused {
                    letter: incoming.letter.clone(),
                    rejection,
                });
            }
        }
        Ok(accepted)
    }

    /// How many messages of each kind are to be stored, by [`Record::kind`].
    pub(super) fn by_kind(&self) -> [usize; Record::KINDS] {
        [
            self.telemetry.len(),
            self.readings.len(),
            self.key_values.len(),
            self.reports.len(),
            self.presence.len(),
        ]
    }

    fn take(
        &mut self,
        incoming: &'a Incoming,
        known: &Known,
        raw_retention: Duration,
    ) -> Result<(), Rejection> {
        if !self.reported_sections.contains_key(&incoming.building) {
            let detail = "the building is not in the database, or is disabled";
            return Err(Rejection::new(Reason::UnknownBuilding, "", detail));
        }
        if let Some(time) = incoming.record.time() {
            refuse_old(time, incoming.letter.received_at, raw_retention)?;
        }
        if known.horizon.is_behind(incoming)? {
            return self.take_beyond_horizon(incoming);
        }
        match &incoming.record {
            Record::Telemetry(record) => self.telemetry.push((incoming, record)),
            Record::Readings(readings) => {
                let ids = ids(incoming.building, readings, &known.sensors)?;
                self.readings.push((incoming, (readings, ids)));
            }
            Record::KeyValues(key_values) => self.key_values.push((incoming, key_values)),
            Record::Reported(report) => {
                refuse_unknown(incoming.building, report, &known.actions)?;
                self.reports.push((incoming, report));
            }
            Record::Presence { online } => self.presence.push((incoming, *online)),
        }
        Ok(())
    }
}

impl Accepted<'_> {
    /// What the log brings from before the raw horizon was stored before; of a dead letter that is known to be
    /// otherwise, and it is too late for it.
    fn take_beyond_horizon(&mut self, incoming: &Incoming) -> Result<(), Rejection> {
        if incoming.letter.kept_as.is_some() {
            return Err(too_late(incoming));
        }
        self.beyond_horizon += 1;
        Ok(())
    }
}

fn too_late(incoming: &Incoming) -> Rejection {
    let detail = "the records of its time are dropped: its minute is final";
    let pointer = incoming.record.time().map_or("", |_| "/time");
    Rejection::new(Reason::TooOld, pointer, detail)
}

/// The ids of the sensors that a message names, in its order; the message is taken whole or not at all.
fn ids(building: Uuid, readings: &Readings, sensors: &Sensors) -> Result<Vec<i64>, Rejection> {
    let id = |(index, reading): (usize, &domain::reading::SensorReading)| {
        let refuse = |field: &str, detail: &str| {
            let pointer = format!("/readings/{index}/{field}");
            Err(Rejection::new(Reason::UnknownSensor, pointer, detail))
        };
        let Some(sensor) = sensors.get(&(building, reading.sensor_uuid)) else {
            return refuse("sensor_uuid", "the building has no such sensor");
        };
        match field_not_taken(sensor.kind, sensor.source, reading) {
            Some(field) => refuse(field, "the sensor takes no such value"),
            None => Ok(sensor.id),
        }
    };
    readings.readings.iter().enumerate().map(id).collect()
}

/// A report on an action that its building does not have is refused whole.
fn refuse_unknown(building: Uuid, report: &Report, actions: &Actions) -> Result<(), Rejection> {
    let unknown = report
        .outcomes
        .iter()
        .position(|it| !actions.contains(&(building, it.action_uuid)));
    match unknown {
        None => Ok(()),
        Some(index) => {
            let pointer = format!("/outcomes/{index}/action_uuid");
            let detail = "the building has no such action";
            Err(Rejection::new(Reason::UnknownAction, pointer, detail))
        }
    }
}

async fn lock_buildings(
    connection: &mut PgConnection,
    records: &[Incoming],
) -> Result<HashMap<Uuid, i16>, StoreFailure> {
    let buildings: BTreeSet<Uuid> = records.iter().map(|it| it.building).collect();
    if buildings.is_empty() {
        return Ok(HashMap::new());
    }
    let rows = sqlx::query(include_str!("../queries/lock_buildings.sql"))
        .bind(buildings.into_iter().collect::<Vec<_>>())
        .fetch_all(connection)
        .await?;
    rows.iter()
        .map(|row| Ok((row.try_get("uuid")?, row.try_get("reported_sections")?)))
        .collect()
}

/// All sensors of the buildings that have readings in the batch: which of a kind is the first, and so
/// fed by telemetry, shows only among all of them.
async fn lock_sensors(
    connection: &mut PgConnection,
    records: &[Incoming],
) -> Result<Sensors, StoreFailure> {
    let reads = |it: &&Incoming| matches!(it.record, Record::Readings(_));
    let buildings: BTreeSet<Uuid> = records.iter().filter(reads).map(|it| it.building).collect();
    if buildings.is_empty() {
        return Ok(Sensors::new());
    }
    let rows = sqlx::query(include_str!("../queries/lock_sensors.sql"))
        .bind(buildings.into_iter().collect::<Vec<_>>())
        .fetch_all(connection)
        .await?;
    let mut sensors = Sensors::new();
    for rows in rows.chunk_by(|one, other| one.get::<Uuid, _>(0) == other.get::<Uuid, _>(0)) {
        let kinds: Vec<SensorKind> = rows.iter().map(kind).collect::<Result<_, _>>()?;
        for ((row, kind), source) in rows.iter().zip(&kinds).zip(sources(&kinds)) {
            let identity = (row.try_get("building_uuid")?, row.try_get("sensor_uuid")?);
            let sensor = Sensor {
                id: row.try_get("id")?,
                kind: *kind,
                source,
            };
            sensors.insert(identity, sensor);
        }
    }
    Ok(sensors)
}

/// Which of the actions that a batch's reports name their buildings have. Nothing is locked: a report on an
/// action that is forgotten meanwhile tells of nothing any more.
async fn known_actions(
    connection: &mut PgConnection,
    records: &[Incoming],
) -> Result<Actions, StoreFailure> {
    let mut named = BTreeSet::new();
    for incoming in records {
        if let Record::Reported(report) = &incoming.record {
            let outcomes = report.outcomes.iter();
            named.extend(outcomes.map(|it| (incoming.building, it.action_uuid)));
        }
    }
    if named.is_empty() {
        return Ok(Actions::new());
    }
    let (buildings, actions): (Vec<Uuid>, Vec<Uuid>) = named.into_iter().unzip();
    let rows = sqlx::query(include_str!("../queries/known_actions.sql"))
        .bind(buildings)
        .bind(actions)
        .fetch_all(connection)
        .await?;
    rows.iter()
        .map(|row| Ok((row.try_get("building_uuid")?, row.try_get("action_uuid")?)))
        .collect()
}
