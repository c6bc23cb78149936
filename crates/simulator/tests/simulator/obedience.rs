//! Controllers that are told something over MQTT.

use crate::stub_broker::{Manners, StubBroker};
use bytes::Bytes;
use domain::control::{Desired, InverterPower, Inverters, SetpointValue, Setpoints, Socket};
use domain::time::Timestamp;
use serde_json::{Value, json};
use simulator::{Answers, Config, Fleet, Limit, Scenario, Summary, Topics, run};
use std::time::Duration;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;
use wire::decode::decode_document;
use wire::desired::{Document, encode};
use wire::topic::{MqttTopic, RecordKind};

const NOW: Timestamp = Timestamp::from_seconds(1_750_000_000);
const PATIENCE: Duration = Duration::from_secs(30);

/// No inverter has this setpoint by itself: rated powers are whole kilowatts.
const WATTS: i32 = 777;

/// A document that curtails the inverters until something new comes.
fn curtail(revision: i64, action_uuid: Uuid) -> Vec<u8> {
    let inverters = Some(Inverters {
        action_uuid,
        power: InverterPower::Watts(WATTS),
        end: None,
        consumption_compensated: false,
    });
    let desired = Desired {
        inverters,
        ..Desired::default()
    };
    document(revision, desired)
}

fn document(revision: i64, desired: Desired) -> Vec<u8> {
    encode(&Document {
        revision,
        issued_at: NOW,
        desired,
    })
}

fn config(broker: &StubBroker, answers: Answers) -> Config {
    let scenario = Scenario {
        topics: Topics::All,
        answers,
        limit: Limit::Endless,
        ..Scenario::new(SEED, 7, Duration::from_millis(5))
    };
    Config {
        acknowledgement_timeout: Duration::from_millis(600),
        ..Config::new(broker.url(), scenario)
    }
}

const SEED: u64 = 1;

/// Of the fleet: a building with inverters, and its topic.
fn with_solar() -> (Uuid, String) {
    let fleet = Fleet::new(SEED, 7);
    let mut buildings = fleet.buildings().iter();
    let building = buildings.find(|it| it.solar_rated_w.is_some()).unwrap();
    (building.uuid, MqttTopic::desired(building.uuid))
}

/// Publishes until enough has arrived.
async fn publish_until(
    broker: &StubBroker,
    config: Config,
    enough: impl Fn(&[Bytes]) -> bool,
) -> Summary {
    let begin = tokio::time::Instant::now();
    let now = move || NOW.micros() + i64::try_from(begin.elapsed().as_micros()).unwrap();
    let shutdown = CancellationToken::new();
    let watched = async {
        while !enough(&broker.received()) {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        shutdown.cancel();
    };
    let published = timeout(PATIENCE, run(config, now, shutdown.clone()));
    let (summary, ()) = tokio::join!(published, async {
        timeout(PATIENCE, watched).await.unwrap();
    });
    summary.unwrap().unwrap()
}

/// The reports among the payloads, each once, as the service reads them.
fn reports(payloads: &[Bytes]) -> Vec<Value> {
    let mut reports: Vec<Value> = Vec::new();
    for payload in payloads {
        if let Ok(report) = decode_document(RecordKind::Reported, payload)
            && !reports.contains(&report)
        {
            reports.push(report);
        }
    }
    reports
}

fn telemetry(payloads: &[Bytes]) -> impl Iterator<Item = Value> {
    let all = payloads
        .iter()
        .filter_map(|it| serde_json::from_slice(it).ok());
    all.filter(|it: &Value| it.get("main_meter").is_some())
}

fn is_curtailed(payloads: &[Bytes]) -> bool {
    let setpoint = json!(-WATTS);
    telemetry(payloads).any(|it| it["solar"]["active_power_setpoint_w"] == setpoint)
}

#[tokio::test]
async fn every_controller_listens_to_its_own_topic_and_reports_what_it_is_told_once() {
    let broker = StubBroker::start(0, &[Manners::Answers]).await;
    let (_, topic) = with_solar();
    let action = Uuid::from_u128(1);
    broker.retain(&topic, vec![curtail(3, action)]);
    let summary = publish_until(&broker, config(&broker, Answers::Obeys), |received| {
        is_curtailed(received) && !reports(received).is_empty()
    })
    .await;
    let told = reports(&broker.received());
    assert_eq!(told.len(), 1);
    assert_eq!(told[0]["revision"], json!(3));
    let outcome = json!([{"action_uuid": action, "status": "accepted"}]);
    assert_eq!(told[0]["outcomes"], outcome);
    let fleet = Fleet::new(SEED, 7);
    let topics = fleet
        .buildings()
        .iter()
        .map(|it| MqttTopic::desired(it.uuid));
    assert_eq!(broker.subscribed(), topics.collect::<Vec<_>>());
    assert_eq!((summary.reports.records, summary.reports.good), (1, 1));
    assert_eq!(summary.acknowledged, summary.published());
}

#[tokio::test]
async fn after_an_outage_the_newest_document_counts_and_a_known_one_is_not_reported_again() {
    let twice = &[
        Manners::HangsUpAfter(60),
        Manners::HangsUpAfter(60),
        Manners::Answers,
    ];
    let broker = StubBroker::start(0, twice).await;
    let (_, topic) = with_solar();
    let [first, second] = [1, 2].map(Uuid::from_u128);
    let retained = vec![curtail(3, first), curtail(3, first), curtail(4, second)];
    broker.retain(&topic, retained);
    let summary = publish_until(&broker, config(&broker, Answers::Obeys), |received| {
        reports(received).len() == 2
    })
    .await;
    let told = reports(&broker.received());
    let revisions: Vec<_> = told.iter().map(|it| &it["revision"]).collect();
    assert_eq!(revisions, [&json!(3), &json!(4)]);
    assert_eq!(told[1]["outcomes"][0]["action_uuid"], json!(second));
    assert_eq!(summary.reports.good, 2);
    assert_eq!(summary.reconnects, 2);
}

#[tokio::test]
async fn who_rejects_says_so_and_does_nothing() {
    let broker = StubBroker::start(0, &[Manners::Answers]).await;
    let (_, topic) = with_solar();
    broker.retain(&topic, vec![curtail(1, Uuid::from_u128(1))]);
    publish_until(&broker, config(&broker, Answers::Rejects), |received| {
        reports(received).len() == 1 && received.len() > 100
    })
    .await;
    let received = broker.received();
    assert_eq!(reports(&received)[0]["outcomes"][0]["status"], "rejected");
    assert!(!is_curtailed(&received));
}

#[tokio::test]
async fn who_is_silent_does_it_and_says_nothing_and_who_is_deaf_does_not_listen() {
    let broker = StubBroker::start(0, &[Manners::Answers]).await;
    let (_, topic) = with_solar();
    broker.retain(&topic, vec![curtail(1, Uuid::from_u128(1))]);
    let silent = config(&broker, Answers::Silent);
    let summary = publish_until(&broker, silent, is_curtailed).await;
    assert_eq!(summary.reports.records, 0);
    assert_eq!(reports(&broker.received()), [] as [Value; 0]);

    let mut only_telemetry = config(&broker, Answers::Obeys);
    only_telemetry.scenario.topics = Topics::TelemetryOnly;
    for config in [config(&broker, Answers::Deaf), only_telemetry] {
        let before = broker.subscribed().len();
        let arrived = broker.received().len();
        publish_until(&broker, config, |received| received.len() > arrived + 100).await;
        assert_eq!(broker.subscribed().len(), before);
    }
}

/// The sensors of a kind that the fleet file gives the fleet's first building.
fn sensors(kind: &str) -> Vec<Uuid> {
    let file = Fleet::new(SEED, 1).fleet_file("x");
    let hubs = file["buildings"][0]["sensor_hubs"].as_array().unwrap();
    let sensors = hubs
        .iter()
        .flat_map(|hub| hub["sensors"].as_array().unwrap());
    let of_kind = sensors.filter(|it| it["kind"] == kind);
    of_kind
        .map(|it| Uuid::try_parse(it["sensor_uuid"].as_str().unwrap()).unwrap())
        .collect()
}

#[tokio::test]
async fn readings_show_at_once_what_cars_draw_and_setpoints_are() {
    let broker = StubBroker::start(0, &[Manners::Answers]).await;
    let [car, heating] = ["ev_socket", "setpoint"].map(|kind| sensors(kind)[0]);
    let building = Fleet::new(SEED, 1).buildings()[0].uuid;
    let value = SetpointValue {
        sensor_uuid: heating,
        value: 18.5,
    };
    let desired = Desired {
        ev_sockets: vec![Socket {
            action_uuid: Uuid::from_u128(1),
            sensor_uuid: car,
            charge_watts: 3_700,
            until: NOW.plus(Duration::from_secs(3_600)),
        }],
        setpoints: Some(Setpoints {
            action_uuid: Uuid::from_u128(2),
            values: vec![value],
            end: None,
        }),
        ..Desired::default()
    };
    broker.retain(&MqttTopic::desired(building), vec![document(1, desired)]);
    // A minute passes between two readings, unless there is something to show.
    publish_until(&broker, config(&broker, Answers::Obeys), |received| {
        let shown = |reading: Value| {
            let mut payloads = received.iter();
            payloads.any(|it| {
                let payload: Value = serde_json::from_slice(it).unwrap();
                let readings = payload["readings"].as_array();
                readings.is_some_and(|readings| readings.contains(&reading))
            })
        };
        shown(json!({"sensor_uuid": car, "power_w": 3_700}))
            && shown(json!({"sensor_uuid": heating, "value": 18.5}))
    })
    .await;
}
