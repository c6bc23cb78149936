//! What controllers send besides telemetry.

use domain::electricity::{Source, sources};
use domain::reading::{Record, field_not_taken};
use domain::rejection::{Reason, refuse_future};
use domain::sensor::SensorKind;
use domain::time::Timestamp;
use serde_json::Value;
use simulator::plan::KEY_VALUES_INTERVAL;
use simulator::{Fleet, Kind, Limit, Plan, Publication, Scenario, Shares, Topics};
use std::collections::HashMap;
use std::time::Duration;
use uuid::Uuid;
use wire::decode::decode_record;
use wire::topic::{RecordKind, parse_topic};

const START: Timestamp = Timestamp::from_seconds(1_750_000_000);
const BUILDINGS: usize = 40;
const HOUR: Duration = Duration::from_secs(3_600);

fn scenario(duration: Duration) -> Scenario {
    Scenario {
        topics: Topics::All,
        limit: Limit::Duration(duration),
        ..Scenario::new(11, BUILDINGS, Duration::from_secs(7))
    }
}

fn publications(scenario: &Scenario) -> Vec<Publication> {
    Plan::new(scenario, START).unwrap().collect()
}

/// By building, in the order of their publication.
fn times(publications: &[Publication], record: RecordKind) -> HashMap<Uuid, Vec<Timestamp>> {
    let mut times: HashMap<_, Vec<_>> = HashMap::new();
    for publication in publications.iter().filter(|it| it.record == record) {
        let of_building = times.entry(publication.building).or_default();
        of_building.push(publication.time);
    }
    times
}

#[test]
fn telemetry_is_the_same_with_and_without_the_rest() {
    let mut all = scenario(HOUR);
    all.shares = Shares {
        duplicates: 0.1,
        late: 0.1,
        invalid: 0.1,
        gaps: 0.1,
    };
    let only = Scenario {
        topics: Topics::TelemetryOnly,
        ..all.clone()
    };
    let mut telemetry = publications(&all);
    telemetry.retain(|it| it.record == RecordKind::Telemetry);
    let only = publications(&only);
    assert_eq!(telemetry.len(), only.len());
    // What is held back to the end may leave in another order among others.
    let key = |it: &Publication| (it.building, it.time, it.kind == Kind::Duplicate);
    let sorted = |mut publications: Vec<Publication>| {
        publications.sort_by_key(key);
        publications
    };
    assert_eq!(sorted(telemetry), sorted(only));
}

#[test]
fn readings_come_at_the_start_and_every_minute_and_key_values_now_and_then() {
    let publications = publications(&scenario(HOUR));
    for (record, interval) in [
        (RecordKind::Readings, Duration::from_secs(60)),
        (RecordKind::KeyValues, KEY_VALUES_INTERVAL),
    ] {
        let times = times(&publications, record);
        assert_eq!(times.len(), BUILDINGS);
        for times in times.values() {
            let expected = usize::try_from(HOUR.as_secs() / interval.as_secs()).unwrap();
            assert_eq!(times.len(), expected, "{record:?}");
            let first = times[0];
            assert!(
                first.micros_since(START) < 7_000_000,
                "with the first record"
            );
            for (number, time) in times.iter().enumerate() {
                // With the first record that is due then, so at most one of its intervals later.
                let wanted = i64::try_from(number as u64 * interval.as_secs()).unwrap();
                let late = time.micros_since(first) - wanted * 1_000_000;
                assert!((0..7_000_000).contains(&late), "{record:?}: {late}");
            }
        }
    }
}

/// Of every sensor in the fleet file: its building, its kind and where its values come from.
fn sensors(scenario: &Scenario) -> HashMap<Uuid, (Uuid, SensorKind, Source)> {
    let file = Fleet::new(scenario.seed, scenario.buildings).fleet_file("x");
    let uuid = |value: &Value| Uuid::try_parse(value.as_str().unwrap()).unwrap();
    let mut sensors = HashMap::new();
    for building in file["buildings"].as_array().unwrap() {
        let hubs = building["sensor_hubs"].as_array().unwrap();
        let of_hubs = hubs
            .iter()
            .flat_map(|hub| hub["sensors"].as_array().unwrap());
        let (uuids, kinds): (Vec<Uuid>, Vec<SensorKind>) = of_hubs
            .map(|it| {
                let kind = SensorKind::parse(it["kind"].as_str().unwrap()).unwrap();
                (uuid(&it["sensor_uuid"]), kind)
            })
            .unzip();
        let of_building = kinds.iter().zip(sources(&kinds));
        for (sensor, (kind, source)) in uuids.iter().zip(of_building) {
            sensors.insert(*sensor, (uuid(&building["uuid"]), *kind, source));
        }
    }
    sensors
}

#[test]
fn every_reading_is_of_a_sensor_of_the_fleet_file_that_takes_it() {
    let scenario = scenario(HOUR);
    let sensors = sensors(&scenario);
    let mut seen: HashMap<SensorKind, u32> = HashMap::new();
    for publication in publications(&scenario) {
        let topic = parse_topic(&publication.topic);
        assert_eq!(topic.kind, Some(publication.record));
        assert_eq!(topic.building, Ok(publication.building));
        let record = decode_record(publication.record, &publication.payload).unwrap();
        assert_eq!(record.time(), Some(publication.time));
        if let Record::Readings(readings) = record {
            for reading in readings.readings {
                let (building, kind, source) = sensors[&reading.sensor_uuid];
                assert_eq!(building, publication.building);
                assert_eq!(field_not_taken(kind, source, &reading), None, "{kind:?}");
                *seen.entry(kind).or_default() += 1;
            }
        }
    }
    for kind in [
        SensorKind::Delivery,
        SensorKind::ReturnDelivery,
        SensorKind::GasVolume,
        SensorKind::Heat,
        SensorKind::WaterVolume,
        SensorKind::WaterFlow,
        SensorKind::Temperature,
        SensorKind::RelativeHumidity,
        SensorKind::EvSocket,
        SensorKind::Setpoint,
    ] {
        assert!(seen.contains_key(&kind), "{kind:?}");
    }
    let everybody = u32::try_from(BUILDINGS).unwrap() * 60;
    assert_eq!(seen[&SensorKind::GasVolume], everybody);
    assert_eq!(
        seen[&SensorKind::Heat] + seen[&SensorKind::WaterVolume],
        everybody
    );
    assert!(
        (everybody / 5..everybody).contains(&seen[&SensorKind::Delivery]),
        "some buildings"
    );
}

#[test]
fn registers_never_fall_but_where_a_gas_meter_is_replaced() {
    let mut scenario = scenario(Duration::from_secs(40 * 86_400));
    scenario.interval = HOUR;
    let sensors = sensors(&scenario);
    let mut registers: HashMap<Uuid, f64> = HashMap::new();
    let mut replaced = 0;
    for publication in publications(&scenario) {
        let record = decode_record(publication.record, &publication.payload).unwrap();
        let Record::Readings(readings) = record else {
            continue;
        };
        for reading in readings.readings {
            let Some(read) = reading.meter_reading else {
                continue;
            };
            let before = registers.insert(reading.sensor_uuid, read).unwrap_or(0.0);
            if read < before {
                assert_eq!(sensors[&reading.sensor_uuid].1, SensorKind::GasVolume);
                assert!(read * 10.0 < before, "{before} {read}: it begins anew");
                replaced += 1;
            }
        }
    }
    assert!((1..30).contains(&replaced), "{replaced}");
}

#[test]
fn the_service_refuses_every_bad_report_with_its_reason_and_the_summary_counts_them() {
    let mut scenario = scenario(Duration::from_secs(600));
    scenario.shares.invalid = 0.5;
    scenario.shares.duplicates = 0.2;
    let mut plan = Plan::new(&scenario, START).unwrap();
    let mut counted: HashMap<(RecordKind, String), u64> = HashMap::new();
    for publication in plan.by_ref() {
        let kind = format!("{:?}", publication.kind);
        *counted.entry((publication.record, kind)).or_default() += 1;
        let payload = String::from_utf8_lossy(&publication.payload);
        let verdict = decode_record(publication.record, &publication.payload)
            .and_then(|record| refuse_future(record.time().unwrap(), publication.time))
            .map_err(|rejection| rejection.reason);
        match publication.kind {
            Kind::Invalid(expected) => assert_eq!(verdict, Err(expected), "{payload}"),
            Kind::Good | Kind::Duplicate | Kind::Late => assert_eq!(verdict, Ok(()), "{payload}"),
        }
    }
    let readings = plan.summary().readings;
    let of = |kind: &str| counted[&(RecordKind::Readings, kind.to_owned())];
    assert_eq!(readings.records, BUILDINGS as u64 * 10);
    assert_eq!(readings.good, of("Good"));
    assert_eq!(readings.duplicates, of("Duplicate"));
    for reason in [
        Reason::NotJson,
        Reason::Schema,
        Reason::OutOfRange,
        Reason::TimeInFuture,
    ] {
        assert_eq!(
            readings.invalid(reason),
            of(&format!("Invalid({reason:?})"))
        );
    }
    let key_values = plan.summary().key_values;
    assert_eq!(
        (key_values.good, key_values.records),
        (BUILDINGS as u64, BUILDINGS as u64)
    );
    assert_eq!(plan.summary().published(), counted.values().sum::<u64>());
}
