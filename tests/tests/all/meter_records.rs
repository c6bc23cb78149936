//! Random messages about the registers of one building, over three days with a change of clocks.

use crate::register_oracle::{Days, MINUTE, QUARTER, SECOND, Sent};
use domain::reading::{Readings, Record, SensorReading};
use domain::record::{MainMeter, Section, Solar, Status, TelemetryRecord};
use domain::sensor::{SensorKind, Sign};
use domain::time::Timestamp;
use proptest::prelude::*;
use std::collections::BTreeSet;
use store::{FleetHub, FleetSensor, Metered, Series};
use uuid::Uuid;

/// The building's sensors, in the order of the fleet file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Meter {
    /// Fed by telemetry.
    Delivery,
    /// Fed by telemetry.
    ReturnDelivery,
    /// Fed by telemetry.
    Production,
    /// Fed by readings.
    SecondDelivery,
    /// Fed by readings.
    Socket,
    /// Has only registers of its own.
    Heat,
    /// Has only registers of its own.
    Gas,
}

impl Meter {
    pub(crate) const ALL: [Self; 7] = [
        Self::Delivery,
        Self::ReturnDelivery,
        Self::Production,
        Self::SecondDelivery,
        Self::Socket,
        Self::Heat,
        Self::Gas,
    ];

    pub(crate) const fn kind(self) -> SensorKind {
        match self {
            Self::Delivery | Self::SecondDelivery => SensorKind::Delivery,
            Self::ReturnDelivery => SensorKind::ReturnDelivery,
            Self::Production => SensorKind::Production,
            Self::Socket => SensorKind::EvSocket,
            Self::Heat => SensorKind::Heat,
            Self::Gas => SensorKind::GasVolume,
        }
    }

    /// What the store is asked about it.
    pub(crate) fn metered(self, sensor_id: i64) -> Metered {
        let fed_by = match self {
            Self::Delivery => Some((Series::Section(Section::MainMeter), Sign::Positive)),
            Self::ReturnDelivery => Some((Series::Section(Section::MainMeter), Sign::Negative)),
            Self::Production => Some((Series::Section(Section::Solar), Sign::Negative)),
            Self::SecondDelivery | Self::Socket => {
                Some((Series::Sensor(sensor_id), Sign::Positive))
            }
            Self::Heat | Self::Gas => None,
        };
        Metered { sensor_id, fed_by }
    }

    pub(crate) fn sent_nothing(self) -> Sent {
        Sent {
            electric: !matches!(self, Self::Heat | Self::Gas),
            ..Sent::default()
        }
    }
}

/// A hub with all the meters, and their identities.
pub(crate) fn hub() -> (FleetHub, [Uuid; 7]) {
    let uuids = Meter::ALL.map(|_| Uuid::new_v4());
    let sensors = Meter::ALL
        .iter()
        .zip(uuids)
        .map(|(meter, sensor_uuid)| FleetSensor {
            sensor_uuid,
            name: format!("{meter:?}"),
            kind: meter.kind(),
            min_interval: "minute".to_owned(),
            meter_name: Some(format!("Meter {meter:?}")),
            tariff: None,
        });
    let hub = FleetHub {
        uuid: Uuid::new_v4(),
        name: "Meters".to_owned(),
        kind: "smart_meter".to_owned(),
        sensors: sensors.collect(),
    };
    (hub, uuids)
}

/// A section as telemetry has it.
type Measured = Option<(Status, Option<i32>)>;

/// One message; times in microseconds.
#[derive(Clone, Debug)]
pub(crate) enum Message {
    Telemetry {
        time: i64,
        meter: Measured,
        solar: Measured,
    },
    Reading {
        time: i64,
        of: Meter,
        power_w: Option<i32>,
        register: Option<f64>,
    },
}

impl Message {
    pub(crate) fn record(&self, uuids: &[Uuid; 7]) -> Record {
        match *self {
            Self::Telemetry { time, meter, solar } => Record::Telemetry(TelemetryRecord {
                time: Timestamp::from_micros(time),
                main_meter: meter.map(|(status, active_power_w)| MainMeter {
                    status,
                    active_power_w,
                }),
                battery: None,
                solar: solar.map(|(status, active_power_w)| Solar {
                    status,
                    active_power_w,
                    active_power_setpoint_w: None,
                    rated_power_w: None,
                    min_power_w: None,
                    max_power_w: None,
                    baseline_power_w: None,
                }),
            }),
            Self::Reading {
                time,
                of,
                power_w,
                register,
            } => Record::Readings(Readings {
                time: Timestamp::from_micros(time),
                readings: vec![SensorReading {
                    sensor_uuid: uuids[of as usize],
                    power_w,
                    meter_reading: register,
                    value: None,
                }],
            }),
        }
    }

    /// Tells the oracle.
    pub(crate) fn note(&self, sent: &mut [Sent; 7]) {
        let mut sample = |of: Meter, time: i64, power_w: i64| {
            sent[of as usize].power_w.insert(time, power_w.max(0));
        };
        match *self {
            Self::Telemetry { time, meter, solar } => {
                if let Some(power_w) = measurement(meter) {
                    sample(Meter::Delivery, time, power_w);
                    sample(Meter::ReturnDelivery, time, -power_w);
                }
                if let Some(power_w) = measurement(solar) {
                    sample(Meter::Production, time, -power_w);
                }
            }
            Self::Reading {
                time,
                of,
                power_w,
                register,
            } => {
                if let Some(power_w) = power_w {
                    sample(of, time, i64::from(power_w));
                }
                if let Some(register) = register {
                    sent[of as usize].register.insert(time, register);
                }
            }
        }
    }

    /// When it was measured.
    pub(crate) fn time(&self) -> i64 {
        self.identity().0
    }

    /// Messages with the same identity are one message.
    fn identity(&self) -> (i64, Option<Meter>) {
        match *self {
            Self::Telemetry { time, .. } => (time, None),
            Self::Reading { time, of, .. } => (time, Some(of)),
        }
    }
}

fn measurement(section: Measured) -> Option<i64> {
    let (status, power_w) = section?;
    (status != Status::Unavailable).then_some(i64::from(power_w?))
}

/// Moments of the three days in the middle, often close to where days, UTC's days, quarters and
/// minutes meet.
pub(crate) fn moment(days: Days) -> impl Strategy<Value = i64> + Clone {
    let [_, first, second, third, end, _] = days.0;
    let nearby = -400 * SECOND..400 * SECOND;
    let border = prop_oneof![
        3 => prop::sample::select(vec![first, second, third, end]).prop_map(|it| it * SECOND),
        2 => (1..4_i64).prop_map(move |day| (first / 86_400 + day) * 86_400 * SECOND),
        2 => (0..280_i64).prop_map(move |quarter| first * SECOND + quarter * QUARTER),
        1 => (0..4_000_i64).prop_map(move |minute| first * SECOND + minute * MINUTE),
    ];
    let inside = move |it: i64| it.clamp(first * SECOND, end * SECOND - 1);
    prop_oneof![
        1 => border.clone().prop_map(inside),
        4 => (border, nearby).prop_map(move |(border, off)| inside(border + off)),
        2 => first * SECOND..end * SECOND,
    ]
}

/// Gaps between samples, around the 120 seconds that a power holds.
fn gap() -> impl Strategy<Value = i64> {
    prop_oneof![
        2 => Just(120 * SECOND),
        1 => Just(120 * SECOND + 1),
        1 => Just(120 * SECOND - 1),
        1 => Just(MINUTE),
        4 => 1..90 * SECOND,
        1 => 121 * SECOND..1_000 * SECOND,
        1 => Just(1),
    ]
}

fn power() -> impl Strategy<Value = i32> {
    prop_oneof![1 => Just(i32::MAX), 1 => Just(-i32::MAX), 1 => Just(0), 6 => -9_000..9_000_i32]
}

fn measured() -> impl Strategy<Value = Measured> {
    let status = prop_oneof![
        6 => Just(Status::Available),
        1 => Just(Status::Degraded),
        1 => Just(Status::Unavailable)
    ];
    prop::option::weighted(0.8, (status, prop::option::weighted(0.9, power())))
}

/// Registers that count on, fall to nothing, roll over or belong to another meter.
fn register() -> impl Strategy<Value = f64> {
    prop_oneof![
        4 => (0..20_000_000_i64).prop_map(|it| it as f64 / 1e3),
        1 => Just(0.0),
        1 => Just(9_999.999),
    ]
}

/// Times that follow one another.
fn times(days: Days, most: usize) -> impl Strategy<Value = Vec<i64>> {
    let [_, first, _, _, end, _] = days.0;
    (moment(days), prop::collection::vec(gap(), 0..most)).prop_map(move |(start, gaps)| {
        let mut time = start;
        let mut times = vec![start];
        for gap in gaps {
            time += gap;
            times.push(time);
        }
        times.retain(|it| (first * SECOND..end * SECOND).contains(it));
        times
    })
}

/// Some messages of one kind in a row.
fn run(days: Days) -> impl Strategy<Value = Vec<Message>> {
    let telemetry = (times(days, 12), measured(), measured()).prop_perturb(
        |(times, meter, solar), mut random| {
            let shake = |it: Measured, by: i32| {
                it.map(|(status, power_w)| {
                    (
                        status,
                        power_w.map(|it| it.saturating_sub(by).max(-i32::MAX)),
                    )
                })
            };
            let message = |time| {
                let by = i32::try_from(random.next_u32() % 7_000).unwrap();
                let (meter, solar) = (shake(meter, by), shake(solar, by));
                Message::Telemetry { time, meter, solar }
            };
            times.into_iter().map(message).collect::<Vec<_>>()
        },
    );
    let powers = prop::sample::select(vec![Meter::SecondDelivery, Meter::Socket]);
    let powers = (times(days, 10), powers, prop::collection::vec(power(), 10)).prop_map(
        |(times, of, powers)| {
            let message = |(time, power_w)| Message::Reading {
                time,
                of,
                power_w: Some(power_w),
                register: None,
            };
            times.into_iter().zip(powers).map(message).collect()
        },
    );
    let own = prop::sample::select(vec![
        Meter::Delivery,
        Meter::SecondDelivery,
        Meter::Socket,
        Meter::Heat,
        Meter::Gas,
    ]);
    let own = (times(days, 5), own, prop::collection::vec(register(), 5)).prop_map(
        |(times, of, registers)| {
            let message = |(time, register)| Message::Reading {
                time,
                of,
                power_w: None,
                register: Some(register),
            };
            times.into_iter().zip(registers).map(message).collect()
        },
    );
    prop_oneof![5 => telemetry, 3 => powers, 1 => own]
}

/// The messages of a building in the order in which they arrive, cut into batches.
pub(crate) fn batches(days: Days) -> impl Strategy<Value = Vec<Vec<Message>>> {
    let messages = prop::collection::vec(run(days), 1..8).prop_map(|runs| {
        let mut known = BTreeSet::new();
        let mut messages: Vec<Message> = runs.into_iter().flatten().collect();
        messages.retain(|it| known.insert(it.identity()));
        messages
    });
    (
        messages.prop_flat_map(|it| Just(it).prop_shuffle()),
        1..5_usize,
    )
        .prop_map(|(messages, count)| {
            let size = messages.len().div_ceil(count).max(1);
            messages.chunks(size).map(<[_]>::to_vec).collect()
        })
}
