//! The kinds of work that are counted: each does the same again in every pass.

use crate::records::{Shape, set};
use bytes::Bytes;
use domain::bucket::{MinuteSum, combined_mean, mean};
use domain::register::{classify, kwh};
use domain::rejection::refuse_future;
use domain::time::Timestamp;
use std::hint::black_box;
use wire::decode::{decode_record, decode_telemetry, verdict};
use wire::envelope::{Header, Message};
use wire::topic::{RecordKind, parse_topic};
use wire::validate;

/// Different items of a pass.
pub(crate) const ITEMS: u32 = 64;

const RECEIVED_AT: Timestamp = Timestamp::from_seconds(1_750_000_000);

/// One pass over all items.
pub(crate) type Pass = Box<dyn FnMut()>;

/// A kind of work.
pub(crate) struct Kind {
    /// The function, and what it is given.
    pub(crate) name: &'static str,
    /// Makes the items.
    pub(crate) prepare: fn() -> Pass,
}

/// All of them.
pub(crate) const KINDS: &[Kind] = &[
    Kind {
        name: "validate::telemetry, compact and in order",
        prepare: || over(records(Shape::Compact), |it| accepted(it)),
    },
    Kind {
        name: "validate::telemetry, shuffled and indented",
        prepare: || over(records(Shape::Shuffled), |it| accepted(it)),
    },
    Kind {
        name: "validate::telemetry, fields missing",
        prepare: || over(records(Shape::Missing), |it| accepted(it)),
    },
    Kind {
        name: "validate::portable, compact and in order",
        prepare: || {
            over(records(Shape::Compact), |it| {
                black_box(validate::portable(black_box(it)));
            })
        },
    },
    Kind {
        name: "validate::telemetry, refused at the end",
        prepare: || {
            over(beyond_the_schema(), |it| {
                black_box(validate::telemetry(black_box(it)));
            })
        },
    },
    Kind {
        name: "decode_telemetry, refused by the schema",
        prepare: || {
            over(beyond_the_schema(), |it| {
                black_box(decode_telemetry(black_box(it)).is_err());
            })
        },
    },
    Kind {
        name: "from MQTT to a Kafka record",
        prepare: || over(arrivals(), into_kafka),
    },
    Kind {
        name: "from a Kafka record to columns",
        prepare: || over(kafka_records(), out_of_kafka),
    },
    Kind {
        name: "bucket::mean",
        prepare: || {
            over(minutes(), |it| {
                black_box(mean(black_box(*it)));
            })
        },
    },
    Kind {
        name: "bucket::combined_mean",
        prepare: || {
            over(combinations(), |it| {
                black_box(combined_mean(black_box(it)));
            })
        },
    },
    Kind {
        name: "register::classify",
        prepare: || {
            over(neighbours(), |(before, after)| {
                black_box(classify(black_box(*before), black_box(*after)));
            })
        },
    },
    Kind {
        name: "register::kwh",
        prepare: || {
            over(energies(), |it| {
                black_box(kwh(black_box(*it)));
            })
        },
    },
];

fn over<T: 'static>(items: Vec<T>, work: impl Fn(&T) + 'static) -> Pass {
    Box::new(move || items.iter().for_each(&work))
}

fn numbers() -> impl Iterator<Item = u32> {
    0..ITEMS
}

fn records(shape: Shape) -> Vec<Vec<u8>> {
    set(shape, ITEMS as usize)
}

/// A bound of the last section is broken, which the scanner finds after all that comes before.
fn beyond_the_schema() -> Vec<Vec<u8>> {
    let negative = |record: Vec<u8>| {
        let record = String::from_utf8_lossy(&record).into_owned();
        let rated = "\"rated_power_w\":";
        record.replace(rated, &format!("{rated}-1")).into_bytes()
    };
    records(Shape::Compact).into_iter().map(negative).collect()
}

fn accepted(record: &[u8]) {
    assert!(black_box(validate::telemetry(black_box(record))).is_some());
}

/// Topics and payloads as they come in.
fn arrivals() -> Vec<(String, Bytes)> {
    let topic =
        |number: u32| format!("v1/buildings/6f1f0a0e-2c7c-4c67-9e0b-3a5d2a{number:06x}/telemetry");
    let payloads = records(Shape::Compact).into_iter().map(Bytes::from);
    numbers().map(topic).zip(payloads).collect()
}

/// What the bridge does between the packet and the producer: topic, verdict, time, key and headers.
fn into_kafka((source, payload): &(String, Bytes)) {
    let topic = parse_topic(black_box(source));
    let accepted = topic.kind.map(|kind| verdict(kind, payload));
    let time = accepted.and_then(Result::ok).and_then(|it| it.time);
    assert!(time.is_some_and(|it| refuse_future(it, RECEIVED_AT).is_ok()));
    let message = message(source, payload);
    black_box((message.key(), message.headers()));
}

fn message(source: &str, payload: &Bytes) -> Message {
    let topic = parse_topic(source);
    Message {
        source: source.to_owned(),
        building: topic.building.ok(),
        kind: topic.kind,
        received_at: RECEIVED_AT,
        traceparent: None,
        redelivered: false,
        payload: payload.clone(),
    }
}

fn kafka_records() -> Vec<(Vec<Header>, Bytes)> {
    let record =
        |(source, payload): (String, Bytes)| (message(&source, &payload).headers(), payload);
    arrivals().into_iter().map(record).collect()
}

/// What the aggregator does with a record that the bridge wrote, up to its columns.
fn out_of_kafka((headers, payload): &(Vec<Header>, Bytes)) {
    let header = |name: &str| {
        let found = headers.iter().find(|(other, _)| *other == name);
        found.map(|(_, text)| text.as_str())
    };
    let message = Message::from_headers(header, payload.clone());
    let decoded = message
        .as_ref()
        .and_then(|it| decode_record(it.kind.unwrap_or(RecordKind::Presence), &it.payload).ok());
    let time = decoded.as_ref().and_then(domain::reading::Record::time);
    assert!(time.is_some_and(|it| refuse_future(it, RECEIVED_AT).is_ok()));
    black_box((message, decoded));
}

fn minute(number: u32) -> MinuteSum {
    MinuteSum {
        start: RECEIVED_AT,
        samples: i64::from(number % 60 + 1),
        sum_w: i64::from(number) * 7_919 - 200_000,
    }
}

fn minutes() -> Vec<MinuteSum> {
    numbers().map(minute).collect()
}

/// As consumption is made of: the grid connection, batteries and inverters.
fn combinations() -> Vec<[(i32, MinuteSum); 3]> {
    let three = |it| [(1, minute(it)), (-1, minute(it + 7)), (1, minute(it + 13))];
    numbers().map(three).collect()
}

/// Neighbouring readings: most count upwards, some fall in each of the ways.
fn neighbours() -> Vec<(f64, f64)> {
    let pair = |number: u32| {
        let before = f64::from(number) * 1_537.25 + 9_000.0;
        match number % 8 {
            5 => (before, 0.0),
            6 => (before, before / 2.0),
            7 => (9_999.5, 0.5),
            _ => (before, before + 0.25),
        }
    };
    numbers().map(pair).collect()
}

fn energies() -> Vec<i128> {
    let energy = |number: u32| i128::from(number) * 987_654_321_987 - 31_000_000_000_000;
    numbers().map(energy).collect()
}
