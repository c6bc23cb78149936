//! What a controller sends besides telemetry: readings of its instruments and key-values.

use super::{Kind, Made, Publication};
use crate::controller::Sample;
use crate::energy::Energy;
use crate::fault::Fault;
use crate::fleet::Building;
use crate::instruments::Utility;
use crate::orders::Orders;
use crate::payload::time_text;
use crate::scenario::{Fate, Scenario};
use bytes::Bytes;
use domain::time::Timestamp;
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;
use uuid::Uuid;
use wire::topic::{MqttTopic, RecordKind};

/// How often key-values are registered anew; they seldom change.
pub const KEY_VALUES_INTERVAL: Duration = Duration::from_secs(600);

/// The reports of one building.
#[derive(Debug)]
pub(super) struct Reports {
    building: Building,
    energy: Energy,
    readings_topic: Arc<str>,
    key_values_topic: Arc<str>,
    readings_due: Option<Timestamp>,
    key_values_due: Option<Timestamp>,
    fates: ChaCha8Rng,
    faults: usize,
}

impl Reports {
    pub(super) fn new(building: &Building, index: usize, scenario: &Scenario) -> Self {
        let topic = |kind| MqttTopic::format(kind, building.uuid).into();
        Self {
            energy: Energy::new(building, scenario.interval),
            readings_topic: topic(RecordKind::Readings),
            key_values_topic: topic(RecordKind::KeyValues),
            readings_due: None,
            key_values_due: None,
            fates: crate::fleet::fates_of_readings(scenario.seed, index),
            faults: index,
            building: building.clone(),
        }
    }

    /// What is due with the sample of `time`: at the first one everything, then each in its interval.
    pub(super) fn due(
        &mut self,
        time: Timestamp,
        sample: &Sample,
        orders: &Orders<'_>,
        scenario: &Scenario,
    ) -> Vec<Made> {
        let mut made = Vec::new();
        if is_due(&mut self.key_values_due, time, KEY_VALUES_INTERVAL) {
            made.push(Made {
                fate: Fate::Usual,
                delay: Duration::ZERO,
                publication: self.key_values(time),
            });
        }
        if is_due(&mut self.readings_due, time, scenario.readings_interval) {
            made.push(self.readings(time, sample, orders, scenario));
        }
        self.energy.hold(time, sample.meter_w());
        made
    }

    /// Lets readings come with the next record, whenever the last ones were.
    pub(super) const fn hurry(&mut self) {
        self.readings_due = None;
    }

    fn key_values(&self, time: Timestamp) -> Publication {
        let instruments = &self.building.instruments;
        let (mode, limited) = instruments.mode(time);
        let values = json!({
            "firmware_version": instruments.firmware_version(),
            "mode": mode,
            "signal_percent": instruments.signal_percent(time),
            "limited": limited,
        });
        Publication {
            topic: Arc::clone(&self.key_values_topic),
            record: RecordKind::KeyValues,
            payload: document(time, "values", &values),
            kind: Kind::Good,
            building: self.building.uuid,
            time,
        }
    }

    fn readings(
        &mut self,
        time: Timestamp,
        sample: &Sample,
        orders: &Orders<'_>,
        scenario: &Scenario,
    ) -> Made {
        let items = self.items(time, sample, orders);
        let fate = scenario.shares.fate(self.fates.random());
        let delay = super::delay(&mut self.fates, fate, scenario.late_delay);
        let good = |time| document(time, "readings", &items);
        let (kind, payload) = match fate {
            Fate::Corrupted => {
                let fault = Fault::ALL[self.faults % Fault::ALL.len()];
                self.faults += 1;
                let variant = self.fates.random_range(0..1_000);
                let payload = fault.corrupt_readings(time, good, variant);
                (Kind::Invalid(fault.reason()), payload)
            }
            Fate::Late => (Kind::Late, good(time)),
            Fate::Usual | Fate::Doubled | Fate::Missing => (Kind::Good, good(time)),
        };
        let publication = Publication {
            topic: Arc::clone(&self.readings_topic),
            record: RecordKind::Readings,
            payload,
            kind,
            building: self.building.uuid,
            time,
        };
        Made {
            fate,
            delay,
            publication,
        }
    }

    /// What every instrument reads.
    fn items(&self, time: Timestamp, sample: &Sample, orders: &Orders<'_>) -> Value {
        let here = &self.building.instruments;
        let register = |uuid: Uuid, thousandths: i64| json!({"sensor_uuid": uuid, "meter_reading": parts(thousandths, 1_000.0)});
        let value = |uuid: Uuid, value: f64| json!({"sensor_uuid": uuid, "value": value});
        let mut items = Vec::new();
        if here.own_registers {
            let hubs = &self.building.hubs;
            let [delivery, returned] = self.energy.reading_thousandths(time);
            items.push(register(hubs.delivery, delivery));
            items.push(register(hubs.return_delivery, returned));
        }
        items.push(register(here.gas, here.gas_meter.reading_thousandths(time)));
        let read = here.utility_meter.reading_thousandths(time);
        match here.utility {
            Utility::Heat { heat } => items.push(register(heat, read)),
            Utility::Water { volume, flow } => {
                items.push(register(volume, read));
                // A thousandth of a m3 is a litre.
                let litres = here.utility_meter.thousandths_per_hour(time);
                items.push(value(flow, parts(litres, 1.0)));
            }
        }
        items.push(value(
            here.temperature,
            parts(here.temperature_tenths(time), 10.0),
        ));
        items.push(value(
            here.humidity,
            parts(here.humidity_tenths(time), 10.0),
        ));
        let own_rhythm_w = || here.ev_socket_w(time, sample.load_w);
        let car_w = sample.car_w.unwrap_or_else(own_rhythm_w);
        items.push(json!({"sensor_uuid": here.ev_socket, "power_w": car_w}));
        for setpoint in here.setpoints {
            let set = orders.setpoint(setpoint);
            let set = set.or_else(|| here.setpoint_default(setpoint));
            items.extend(set.map(|set| value(setpoint, set)));
        }
        Value::Array(items)
    }
}

/// Whether it is time, and if so when again: in steps from the first time on, without drift.
fn is_due(due: &mut Option<Timestamp>, time: Timestamp, interval: Duration) -> bool {
    let next = due.unwrap_or(time);
    if time < next {
        return false;
    }
    let interval_micros = i64::try_from(interval.as_micros())
        .unwrap_or(i64::MAX)
        .max(1);
    let passed = time.micros_since(next) / interval_micros + 1;
    let passed_micros = interval_micros.saturating_mul(passed);
    *due = Some(Timestamp::from_micros(
        next.micros().saturating_add(passed_micros),
    ));
    true
}

fn document(time: Timestamp, key: &str, value: &Value) -> Bytes {
    format!("{{\"time\":{},\"{key}\":{value}}}", time_text(time)).into()
}

/// A whole number of parts as a number of units.
fn parts(count: i64, of_unit: f64) -> f64 {
    count as f64 / of_unit
}
