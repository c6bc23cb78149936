//! The kinds besides telemetry: mutants of a few representative documents, and what is read of them.
//!
//! Their judge is `serde_json`'s own tree and the schema's validator, nothing of ours.

use crate::mutations::{below, mutate};
use domain::control::Outcome;
use domain::reading::{Record, Report, ReportedOutcome, Scalar};
use domain::rejection::Reason;
use domain::time::Timestamp;
use jsonschema::Validator;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use serde_json::{Value, json};
use std::sync::LazyLock;
use uuid::Uuid;
use wire::decode::{decode_record, verdict};
use wire::schema::SCHEMAS;
use wire::topic::RecordKind;

/// All fields, and whatever is legal and rare.
const REPORT: &str = r#"{"time":1700000000.25,"revision":42,"outcomes":[{"action_uuid":"1f3c9a52-7e0b-4f6d-8a11-5c2d90b7e6a4","status":"accepted"},{"action_uuid":"1F3C9A52-7E0B-4F6D-8A11-5C2D90B7E6A4","status":"partial","detail":"at its \"limit\"","x":null}],"x":{"revision":1}}"#;

const DOCUMENTS: [(RecordKind, &str); 6] = [
    (RecordKind::Reported, REPORT),
    (
        RecordKind::Reported,
        r#"{"revision":-2147483647,"outcomes":[],"time":1,"time":1700000000000}"#,
    ),
    (
        RecordKind::Reported,
        "{ \"outcomes\" : [{\"status\":\"\\u0072ejected\",\"detail\":\"\",\n\"action_uuid\":\"00000000-0000-0000-0000-00000000000f\"}], \"revision\":4.2e1,\"time\":0}",
    ),
    (
        RecordKind::Readings,
        r#"{"time":1700000000,"readings":[{"sensor_uuid":"1f3c9a52-7e0b-4f6d-8a11-5c2d90b7e6a4","power_w":-5.0},{"sensor_uuid":"1F3C9A52-7E0B-4F6D-8A11-5C2D90B7E6A4","meter_reading":0.5,"value":1e-400}]}"#,
    ),
    (
        RecordKind::KeyValues,
        r#"{"time":1700000000,"values":{"a":"b","c":1.5e3,"d":true,"\u00e9":-0}}"#,
    ),
    (RecordKind::Presence, r#"{"online":false,"time":"x"}"#),
];

/// Enough for every operation to meet every part of a document, few enough for the dev profile.
const RANDOM_MUTANTS: usize = 100_000;

/// What a mutation may put in.
const TOKENS: [&str; 30] = [
    "null",
    "true",
    "0",
    "-0.0",
    "5e0",
    "0.5",
    "1e400",
    "1e-400",
    "2147483647",
    "2147483648",
    "-2147483648",
    "9007199254740993",
    "\"\"",
    "\"accepted\"",
    "\"rejected\"",
    "\"Partial\"",
    "\"\\u0000\"",
    "\"\\ud800\"",
    "\"1f3c9a527e0b4f6d8a115c2d90b7e6a4\"",
    "\"{1f3c9a52-7e0b-4f6d-8a11-5c2d90b7e6a4}\"",
    "{}",
    "[]",
    ",",
    "\"time\":null,",
    "\"revision\":2,",
    "\"outcomes\":[],",
    "\"detail\":\"x\",",
    "\"status\":\"partial\",",
    "\"",
    "\u{feff}",
];

static VALIDATORS: LazyLock<[Validator; SCHEMAS.len()]> = LazyLock::new(|| {
    SCHEMAS.map(|(_, text)| {
        jsonschema::draft202012::new(&serde_json::from_str(text).unwrap()).unwrap()
    })
});

/// The document, or why it is refused, where the judge can tell.
fn judged(kind: RecordKind, payload: &[u8]) -> Result<Value, Option<Reason>> {
    let document: Value = serde_json::from_slice(payload).map_err(|error| {
        // Here the judge's reader stops, and cannot tell what follows.
        let overflow = error.to_string().starts_with("number out of range");
        (!overflow).then_some(Reason::NotJson)
    })?;
    if !VALIDATORS[kind as usize].is_valid(&document) {
        return Err(Some(Reason::Schema));
    }
    let integers = match kind {
        RecordKind::Reported => vec![&document["revision"]],
        RecordKind::Readings => {
            let readings = document["readings"].as_array().unwrap().iter();
            readings.map(|it| &it["power_w"]).collect()
        }
        RecordKind::Telemetry | RecordKind::KeyValues | RecordKind::Presence => Vec::new(),
    };
    let beyond = |it: &&Value| it.as_f64().is_some_and(|it| it.abs() > 2_147_483_647.0);
    if integers.iter().any(beyond) {
        return Err(Some(Reason::OutOfRange));
    }
    Ok(document)
}

/// What an accepted document says, in one spelling.
fn sent(kind: RecordKind, document: &Value) -> Value {
    let time = document["time"].as_f64().map(Timestamp::from_record_time);
    let time = time.map(Timestamp::micros);
    let items = |key: &str| document[key].as_array().unwrap().iter();
    let uuid = |it: &Value| it.as_str().unwrap().to_lowercase();
    match kind {
        RecordKind::Telemetry => panic!("it has a judge of its own"),
        RecordKind::Reported => {
            let outcome =
                |it: &Value| json!([uuid(&it["action_uuid"]), it["status"], it["detail"]]);
            let outcomes: Vec<Value> = items("outcomes").map(outcome).collect();
            json!([time, document["revision"].as_f64(), outcomes])
        }
        RecordKind::Readings => {
            let number = |it: &Value| it.as_f64();
            let reading = |it: &Value| {
                let [power, meter, value] = ["power_w", "meter_reading", "value"];
                let numbers = [number(&it[power]), number(&it[meter]), number(&it[value])];
                json!([uuid(&it["sensor_uuid"]), numbers])
            };
            json!([time, items("readings").map(reading).collect::<Vec<_>>()])
        }
        RecordKind::KeyValues => {
            let scalar = |it: &Value| it.as_f64().map_or_else(|| it.clone(), Value::from);
            let values = document["values"].as_object().unwrap().iter();
            json!([
                time,
                values
                    .map(|(key, it)| json!([key, scalar(it)]))
                    .collect::<Vec<_>>()
            ])
        }
        RecordKind::Presence => document["online"].clone(),
    }
}

/// The same of what was read.
fn read(record: &Record) -> Value {
    let time = record.time().map(Timestamp::micros);
    match record {
        Record::Telemetry(_) => panic!("it has a judge of its own"),
        Record::Reported(report) => {
            let outcome = |it: &ReportedOutcome| {
                let uuid = it.action_uuid.hyphenated().to_string();
                json!([uuid, it.outcome.as_str(), it.detail])
            };
            let outcomes: Vec<Value> = report.outcomes.iter().map(outcome).collect();
            json!([time, report.revision as f64, outcomes])
        }
        Record::Readings(readings) => {
            let reading = |it: &domain::reading::SensorReading| {
                let numbers = [it.power_w.map(f64::from), it.meter_reading, it.value];
                json!([it.sensor_uuid.hyphenated().to_string(), numbers])
            };
            json!([
                time,
                readings.readings.iter().map(reading).collect::<Vec<_>>()
            ])
        }
        Record::KeyValues(key_values) => {
            let scalar = |it: &Scalar| match it {
                Scalar::Text(text) => json!(text),
                Scalar::Number(number) => json!(number),
                Scalar::Boolean(boolean) => json!(boolean),
            };
            let values = key_values.values.iter();
            json!([
                time,
                values
                    .map(|(key, it)| json!([key, scalar(it)]))
                    .collect::<Vec<_>>()
            ])
        }
        Record::Presence { online } => json!(online),
    }
}

/// Asserts that decoder and judge agree: whether it is a record, why it is none, what it says. Tells
/// whether it is one.
#[track_caller]
fn agree(kind: RecordKind, payload: &[u8]) -> bool {
    let decoded = decode_record(kind, payload);
    let shown = String::from_utf8_lossy(payload);
    match (judged(kind, payload), &decoded) {
        (Ok(document), Ok(record)) => assert_eq!(read(record), sent(kind, &document), "{shown}"),
        (Err(Some(reason)), Err(rejection)) => assert_eq!(rejection.reason, reason, "{shown}"),
        (Err(None), Err(rejection)) => assert!(
            (Reason::NotJson..=Reason::OutOfRange).contains(&rejection.reason),
            "{rejection:?} of {shown}"
        ),
        (judged, decoded) => panic!("{judged:?} and {decoded:?} of {shown}"),
    }
    let accepted = decoded.is_ok();
    // The bridge's question and the aggregator's have the same answer.
    assert_eq!(verdict(kind, payload).err(), decoded.err(), "{shown}");
    accepted
}

#[test]
fn every_byte_of_a_report_replaced_by_every_byte_has_the_judges_verdict() {
    let mut accepted = 0_u32;
    let mut mutant = REPORT.as_bytes().to_vec();
    for place in 0..mutant.len() {
        let original = mutant[place];
        for byte in 0..=u8::MAX {
            mutant[place] = byte;
            accepted += u32::from(agree(RecordKind::Reported, &mutant));
        }
        mutant[place] = original;
    }
    assert!(accepted > 2_000, "only {accepted} mutants were reports");
}

#[test]
fn every_deletion_and_truncation_of_a_document_has_the_judges_verdict() {
    for (kind, document) in DOCUMENTS {
        assert!(agree(kind, document.as_bytes()), "{document}");
        for place in 0..document.len() {
            let (front, back) = document.as_bytes().split_at(place);
            agree(kind, front);
            for length in 1..=back.len().min(8) {
                agree(kind, &[front, &back[length..]].concat());
            }
        }
    }
}

#[test]
fn random_mutants_of_documents_have_the_judges_verdict() {
    let mut random = ChaCha8Rng::seed_from_u64(20_260_302);
    for _ in 0..RANDOM_MUTANTS {
        let (kind, document) = DOCUMENTS[below(&mut random, DOCUMENTS.len())];
        let mut mutant = document.as_bytes().to_vec();
        for _ in 0..=below(&mut random, 3) {
            mutate(&mut random, &mut mutant, &TOKENS);
        }
        agree(kind, &mutant);
    }
}

#[test]
fn a_report_is_read_as_it_says() {
    let action_uuid = Uuid::from_u128(0x1f3c_9a52_7e0b_4f6d_8a11_5c2d_90b7_e6a4);
    let outcome = |outcome, detail: Option<&str>| ReportedOutcome {
        action_uuid,
        outcome,
        detail: detail.map(str::to_owned),
    };
    let expected = Report {
        time: Timestamp::from_micros(1_700_000_000_250_000),
        revision: 42,
        outcomes: vec![
            outcome(Outcome::Accepted, None),
            outcome(Outcome::Partial, Some("at its \"limit\"")),
        ],
    };
    let read = decode_record(RecordKind::Reported, REPORT.as_bytes());
    assert_eq!(read, Ok(Record::Reported(expected)));
}
