//! A building with history of every kind, some of it older than raw records are kept.

use crate::administration::everything;
use crate::records::now;
use crate::site::{Site, SiteSensor, metered, read, reading, registered};
use domain::reading::{Readings, Record, Scalar, SensorReading};
use domain::record::{Battery, MainMeter, Status, TelemetryRecord};
use domain::time::{Interval, Timestamp};
use serde_json::Value;
use std::collections::BTreeMap;
use std::time::Duration;
use store::{Batch, Folded, Incoming, Ingested, Letter, LogInUse, Store};
use testkit::Edition;
use uuid::Uuid;

/// How long raw records are kept here.
pub(crate) const KEPT: Duration = Duration::from_secs(7 * 86_400);
/// The tables that retention drops from.
pub(crate) const RAW: [&str; 4] = [
    "telemetry_record",
    "sensor_reading",
    "key_value",
    "presence",
];
const KINDS: [&str; 4] = ["delivery", "heat", "ev_socket", "temperature"];

pub(crate) const fn at(seconds: i64) -> Timestamp {
    Timestamp::from_seconds(seconds)
}

/// What a controller sent, received a second later.
pub(crate) fn incoming(building: Uuid, record: Record, received_at: Timestamp) -> Incoming {
    Incoming {
        building,
        record,
        letter: Letter {
            building: Some(building),
            source: "test".to_owned(),
            received_at,
            traceparent: None,
            redelivered: false,
            payload: Vec::new(),
            kept_as: None,
        },
    }
}

/// Stores what was received when it was made.
pub(crate) async fn ingest(store: &Store, building: Uuid, records: &[(i64, Record)]) -> Ingested {
    let records = records.iter();
    let records = records.map(|(time, record)| incoming(building, record.clone(), at(*time)));
    let batch = Batch {
        records: records.collect(),
        ..Batch::default()
    };
    // What goes to a partition that is made at this moment is tried again, as the writer does.
    loop {
        match store.ingest(&batch, KEPT).await {
            Err(failure) if failure.is_transient() => {}
            ingested => return ingested.unwrap(),
        }
    }
}

pub(crate) async fn fold(store: &Store) {
    while store.fold(at(now())).await.unwrap() != Folded::default() {}
}

/// A site with a history of `days` before today.
pub(crate) struct History {
    pub(crate) site: Site,
    pub(crate) records: Vec<(i64, Record)>,
}

impl History {
    /// Some minutes of everything on each of these days, stored and folded.
    pub(crate) async fn new(edition: Edition, days: &[i64]) -> Self {
        let site = Site::on(edition, "Europe/Amsterdam", &KINDS, now()).await;
        let sensors = site.sensors().await;
        let mut records = Vec::new();
        for day in days {
            let noon = at(now() - day * 86_400).floor(Interval::Day).seconds() + 43_200;
            // Today's noon may be ahead.
            let start = noon.min(now() - 3_600);
            records.extend(some_minutes(&sensors, start, *day));
        }
        let history = Self { site, records };
        let stored = ingest(&history.site.store, history.site.building, &history.records).await;
        assert_eq!(stored.duplicates, 0);
        fold(&history.site.store).await;
        history
    }

    /// Every row of every table but the raw ones and their horizon.
    pub(crate) async fn kept(&self) -> BTreeMap<String, Vec<String>> {
        let mut tables = everything(&self.site.world).await;
        for table in RAW.into_iter().chain(["raw_horizon", "request_budget"]) {
            tables.remove(table).unwrap();
        }
        tables
    }

    /// Every answer that is made of what was measured.
    pub(crate) async fn answers(&self) -> Vec<(String, u16, Value)> {
        let sensors = self.site.sensors().await;
        let uuid = |it: &SiteSensor| it.uuid.to_string();
        let electric: Vec<String> = sensors
            .iter()
            .filter(|it| !["heat", "temperature"].contains(&it.kind.as_str()))
            .map(uuid)
            .collect();
        let electric = electric.join(",");
        let mut paths = vec![
            String::new(),
            "sensors/".to_owned(),
            "electricity/latest/".to_owned(),
            format!("electricity/sensors/latest/?sensor_uuid={electric}"),
            format!("electricity/sensors/latest/?sensor_uuid={electric}&aggregate=minute"),
            "electricity/meterreadings/latest/".to_owned(),
            "keyvalue/latest/".to_owned(),
        ];
        for sensor in sensors.iter().filter(|it| it.kind == "temperature") {
            for offset in [0, -1, -2] {
                paths.push(format!(
                    "comfort/history/day/?sensor_id={}&offset={offset}",
                    sensor.id
                ));
            }
        }
        for (time, _) in self.records.iter().step_by(7) {
            for interval in ["minute", "quarter", "day"] {
                paths.push(format!(
                    "electricity/meterreadings/?timestamp={time}&min_interval={interval}"
                ));
            }
        }
        let mut answers = Vec::new();
        for path in paths {
            let (status, body) = self.site.get(&path).await;
            assert!(status == 200 || status == 204, "{path}: {status} {body}");
            answers.push((path, status, body));
        }
        answers
    }

    /// Moves the horizon as far as it may, in direct mode, and drops what is behind it.
    pub(crate) async fn retain(&self) -> store::Horizon {
        let store = &self.site.store;
        let horizon = store
            .move_raw_horizon(at(now()), KEPT, &LogInUse::default())
            .await
            .unwrap();
        store.drop_raw().await.unwrap();
        horizon
    }

    /// Rows of a raw table on each side of the horizon: before, from it on.
    pub(crate) async fn raw_rows(&self, table: &str) -> (i64, i64) {
        let column = if table == "presence" {
            "received_at"
        } else {
            "time"
        };
        let count = async |side: &str| {
            let query = format!(
                "select count(*) from {table} where {column} {side} (select moment from raw_horizon)"
            );
            self.site.world.count(&query).await
        };
        (count("<").await, count(">=").await)
    }
}

fn some_minutes(sensors: &[SiteSensor], start: i64, day: i64) -> Vec<(i64, Record)> {
    let by_kind = |kind: &str| sensors.iter().find(|it| it.kind == kind).unwrap().uuid;
    let level = f64::from(i32::try_from(100 - day).unwrap());
    let mut records = Vec::new();
    for step in 0..20 {
        let time = start + i64::from(step) * 45;
        records.push((time, metered(at(time), step * 100 - 700)));
        let readings = Readings {
            time: at(time),
            readings: vec![
                SensorReading {
                    power_w: Some(step * 10),
                    ..reading(by_kind("ev_socket"))
                },
                SensorReading {
                    // It falls in the middle: an event.
                    meter_reading: Some(level + f64::from(step % 13)),
                    ..reading(by_kind("heat"))
                },
            ],
        };
        records.push((time, Record::Readings(readings)));
        let warmth = SensorReading {
            value: Some(20.0 + f64::from(step) / 10.0),
            ..reading(by_kind("temperature"))
        };
        records.push((time + 1, read(at(time + 1), warmth)));
        let battery = TelemetryRecord {
            time: at(time + 2),
            main_meter: Some(MainMeter {
                status: Status::Degraded,
                active_power_w: Some(step),
            }),
            battery: Some(Battery {
                status: Status::Available,
                active_power_w: Some(-step),
                active_power_setpoint_w: None,
                baseline_power_w: None,
                soc_percent: None,
                charge_limit_w: None,
                remaining_charge_time_s: None,
                discharge_limit_w: None,
                remaining_discharge_time_s: None,
            }),
            solar: None,
        };
        records.push((time + 2, Record::Telemetry(battery)));
        let key = format!("day {day}");
        let values = [
            ("mode", Scalar::Text(format!("{day}/{step}"))),
            (key.as_str(), Scalar::Number(f64::from(step))),
        ];
        records.push((time + 3, registered(at(time + 3), &values)));
    }
    records
}
