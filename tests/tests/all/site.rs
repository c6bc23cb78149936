//! A building whose records a test stores itself, read over HTTP under a clock of the test's own.

use crate::WATTLINE;
use domain::reading::{KeyValues, Readings, Record, Scalar, SensorReading};
use domain::record::{MainMeter, Status, TelemetryRecord};
use domain::time::Timestamp;
use serde_json::{Value, json};
use std::time::Duration;
use store::{Batch, Folded, Incoming, Letter, Store};
use testkit::{Answer, ApiUnderClock, Client, Edition, Mode, PASSWORD, USERNAME, World};
use uuid::Uuid;

const RETENTION: Duration = Duration::from_secs(30 * 86_400);

/// A sensor of the site, with what the sensor list says about it.
#[derive(Clone, Debug)]
pub(crate) struct SiteSensor {
    pub(crate) uuid: Uuid,
    pub(crate) id: i64,
    pub(crate) kind: String,
}

/// The building and the api that serves it.
pub(crate) struct Site {
    pub(crate) world: World,
    pub(crate) api: ApiUnderClock,
    pub(crate) store: Store,
    pub(crate) building: Uuid,
    client: Client,
}

impl Site {
    /// A building with a sensor of each of these kinds, in this order, at a moment of the test's
    /// choice. The first sensor has a meter name and a tariff.
    pub(crate) async fn new(timezone: &str, kinds: &[&str], now_seconds: i64) -> Self {
        Self::on(Edition::Plain, timezone, kinds, now_seconds).await
    }

    /// The same on the given edition of the database.
    pub(crate) async fn on(
        edition: Edition,
        timezone: &str,
        kinds: &[&str],
        now_seconds: i64,
    ) -> Self {
        let world = World::on(WATTLINE, Mode::Direct, edition).await;
        let building = Uuid::new_v4();
        let sensor = |(index, kind): (usize, &&str)| {
            let mut sensor = json!({"sensor_uuid": Uuid::new_v4(), "name": kind, "kind": kind,
                "min_interval": "minute"});
            if index == 0 {
                sensor["meter_name"] = json!("E0042");
                sensor["tariff"] = json!("low");
            }
            sensor
        };
        let sensors: Vec<Value> = kinds.iter().enumerate().map(sensor).collect();
        world.apply_fleet(&json!({
            "buildings": [{"uuid": building, "name": "Depot", "timezone": timezone, "sensor_hubs": [
                {"uuid": Uuid::new_v4(), "name": "Hub", "kind": "hub", "sensors": sensors}]}],
            "users": [{"username": USERNAME, "password": PASSWORD,
                "buildings": [{"uuid": building, "role": "viewer"}]}],
        }));
        let api = ApiUnderClock::start(&world, now_seconds).await;
        let client = api.client().login(USERNAME, PASSWORD).await;
        Self {
            store: Store::open(&world.settings["WATTLINE_DATABASE_URL"], 2).unwrap(),
            world,
            api,
            building,
            client,
        }
    }

    /// The sensors in the order of the sensor list.
    pub(crate) async fn sensors(&self) -> Vec<SiteSensor> {
        let (_, sensors) = self.get("sensors/").await;
        let sensors = sensors.as_array().unwrap().iter();
        let sensor = |it: &Value| SiteSensor {
            uuid: it["sensor_uuid"].as_str().unwrap().parse().unwrap(),
            id: it["id"].as_i64().unwrap(),
            kind: it["kind"].as_str().unwrap().to_owned(),
        };
        sensors.map(sensor).collect()
    }

    /// Stores records, received when the last of them was made.
    pub(crate) async fn ingest(&self, records: impl IntoIterator<Item = Record>) {
        let records: Vec<Record> = records.into_iter().collect();
        let received_at = records.iter().filter_map(Record::time).max().unwrap();
        let incoming = records.into_iter().map(|record| Incoming {
            building: self.building,
            record,
            letter: Letter {
                building: Some(self.building),
                source: "test".to_owned(),
                received_at,
                traceparent: None,
                redelivered: false,
                payload: Vec::new(),
                kept_as: None,
            },
        });
        let batch = Batch {
            records: incoming.collect(),
            ..Batch::default()
        };
        let ingested = self.store.ingest(&batch, RETENTION).await.unwrap();
        assert_eq!(ingested.stored, batch.records.len() as u64);
    }

    /// Folds whatever has ended at the api's time.
    pub(crate) async fn fold(&self) {
        let now = Timestamp::from_micros(self.api.clock.now_micros());
        while self.store.fold(now).await.unwrap() != Folded::default() {}
    }

    /// Status and body of a GET below the building.
    pub(crate) async fn get(&self, path: &str) -> (u16, Value) {
        let answer = self.answer(path).await;
        (answer.status, answer.body)
    }

    /// The whole answer to a GET below the building.
    pub(crate) async fn answer(&self, path: &str) -> Answer {
        let path = format!("/buildings/{}/{path}", self.building);
        self.client.send(reqwest::Method::GET, &path, None).await
    }

    /// Which parameters a GET is refused for, and by which rules.
    pub(crate) async fn refusal(&self, path: &str) -> Vec<(String, String)> {
        let answer = self.answer(path).await;
        assert_eq!(answer.status, 400, "{path}: {}", answer.text);
        answer.violations()
    }
}

/// Telemetry with a main meter only.
pub(crate) fn metered(time: Timestamp, power_w: i32) -> Record {
    Record::Telemetry(TelemetryRecord {
        time,
        main_meter: Some(MainMeter {
            status: Status::Available,
            active_power_w: Some(power_w),
        }),
        battery: None,
        solar: None,
    })
}

/// One reading of a sensor, without anything in it.
pub(crate) const fn reading(sensor_uuid: Uuid) -> SensorReading {
    SensorReading {
        sensor_uuid,
        power_w: None,
        meter_reading: None,
        value: None,
    }
}

/// A message with one reading.
pub(crate) fn read(time: Timestamp, reading: SensorReading) -> Record {
    Record::Readings(Readings {
        time,
        readings: vec![reading],
    })
}

/// A message with the register of a meter.
pub(crate) fn register(time: Timestamp, sensor: &SiteSensor, meter_reading: f64) -> Record {
    let reading = SensorReading {
        meter_reading: Some(meter_reading),
        ..reading(sensor.uuid)
    };
    read(time, reading)
}

/// A message with the value of a sensor.
pub(crate) fn value(time: Timestamp, sensor: &SiteSensor, value: f64) -> Record {
    let reading = SensorReading {
        value: Some(value),
        ..reading(sensor.uuid)
    };
    read(time, reading)
}

/// A message with key-values.
pub(crate) fn registered(time: Timestamp, values: &[(&str, Scalar)]) -> Record {
    let value = |(key, value): &(&str, Scalar)| ((*key).to_owned(), value.clone());
    Record::KeyValues(KeyValues {
        time,
        values: values.iter().map(value).collect(),
    })
}
