//! Publishing over MQTT.

use crate::stub_broker::{Manners, StubBroker};
use bytes::Bytes;
use domain::time::Timestamp;
use simulator::{Config, Failure, Limit, Pace, Plan, Scenario, Shares, Summary, Topics, run};
use std::collections::HashSet;
use std::time::Duration;
use tokio::time::{Instant, sleep, timeout};
use tokio_util::sync::CancellationToken;

const START: Timestamp = Timestamp::from_seconds(1_750_000_000);
const PATIENCE: Duration = Duration::from_secs(30);

fn config(url: String, records: u64) -> Config {
    let scenario = Scenario {
        limit: Limit::Records(records),
        ..Scenario::new(1, 7, Duration::from_secs(1))
    };
    Config {
        pace: Pace::AsFastAsPossible { start: START },
        window: 8,
        acknowledgement_timeout: Duration::from_millis(600),
        ..Config::new(url, scenario)
    }
}

async fn publish(config: Config) -> Summary {
    let published = run(config, || 0, CancellationToken::new());
    timeout(PATIENCE, published).await.unwrap().unwrap()
}

fn planned(config: &Config) -> Vec<Bytes> {
    let plan = Plan::new(&config.scenario, START).unwrap();
    plan.map(|publication| publication.payload).collect()
}

/// The first arrival of each payload.
fn arrivals(broker: &StubBroker) -> Vec<Bytes> {
    let mut seen = HashSet::new();
    let mut received = broker.received();
    received.retain(|payload| seen.insert(payload.clone()));
    received
}

#[tokio::test]
async fn a_bounded_fleet_is_published_once_in_order_and_confirmed() {
    let broker = StubBroker::start(0, &[Manners::Answers]).await;
    let config = config(broker.url(), 500);
    let expected = planned(&config);
    let summary = publish(config).await;
    assert_eq!(broker.received(), expected);
    assert_eq!(
        (
            summary.telemetry.good,
            summary.acknowledged,
            summary.repeated
        ),
        (500, 500, 0)
    );
}

async fn nothing_is_lost_with(manners: &'static [Manners], reconnects: u64) {
    let broker = StubBroker::start(0, manners).await;
    let config = config(broker.url(), 200);
    let expected = planned(&config);
    let summary = publish(config).await;
    assert_eq!(arrivals(&broker), expected);
    assert_eq!((summary.acknowledged, summary.unacknowledged), (200, 0));
    assert_eq!(summary.reconnects, reconnects);
    assert!(summary.repeated > 0);
}

#[tokio::test]
async fn nothing_is_lost_when_the_broker_hangs_up() {
    nothing_is_lost_with(&[Manners::HangsUpAfter(50), Manners::Answers], 1).await;
}

#[tokio::test]
async fn nothing_is_lost_when_the_broker_falls_silent() {
    let twice = &[
        Manners::FallsSilentAfter(20),
        Manners::FallsSilentAfter(0),
        Manners::Answers,
    ];
    nothing_is_lost_with(twice, 2).await;
}

#[tokio::test]
async fn nothing_is_lost_when_a_session_is_lost_while_packet_identifiers_collide() {
    nothing_is_lost_with(&[Manners::SkipsAndHangsUpAfter(11), Manners::Answers], 1).await;
}

#[tokio::test]
async fn a_collision_that_is_never_resolved_is_noticed_as_silence() {
    nothing_is_lost_with(&[Manners::SkipsAndHangsUpAfter(1_000), Manners::Answers], 1).await;
}

const ONLINE: &[u8] = br#"{"online":true}"#;
const OFFLINE: &[u8] = br#"{"online":false}"#;

#[tokio::test]
async fn controllers_say_that_they_are_there_before_all_else_and_that_they_have_gone_at_the_end() {
    let broker = StubBroker::start(0, &[Manners::HangsUpAfter(30), Manners::Answers]).await;
    let mut config = config(broker.url(), 100);
    config.scenario.topics = Topics::All;
    let rest = planned(&config);
    let summary = publish(config).await;
    let received = broker.received();
    assert!(received[..7].iter().all(|it| it == ONLINE), "all seven");
    let (before, farewell) = received.split_at(received.len() - 7);
    assert!(farewell.iter().all(|it| it == OFFLINE));
    // After the last will of the connection that was lost they say it again.
    let online = before.iter().filter(|it| *it == ONLINE).count();
    assert!(online >= 14, "{online}");
    assert_eq!(summary.presence.good, 21);
    assert_eq!(summary.telemetry.good, 100);
    assert_eq!((summary.readings.good, summary.key_values.good), (7, 7));
    assert_eq!(summary.acknowledged, summary.published());
    let arrived: HashSet<_> = received.into_iter().collect();
    assert!(rest.iter().all(|payload| arrived.contains(payload)));
}

#[tokio::test]
async fn a_broker_that_is_away_at_the_start_is_waited_for() {
    let port = embedded::free_port().unwrap();
    let late_broker = async {
        sleep(Duration::from_millis(400)).await;
        StubBroker::start(port, &[Manners::Answers]).await
    };
    let published = publish(config(format!("mqtt://127.0.0.1:{port}"), 100));
    let (summary, broker) = tokio::join!(published, late_broker);
    assert_eq!((summary.acknowledged, summary.repeated), (100, 0));
    assert_eq!(broker.received().len(), 100);
}

#[tokio::test]
async fn several_connections_publish_what_one_would() {
    let broker = StubBroker::start(0, &[Manners::Answers]).await;
    let mut config = config(broker.url(), 1_000);
    config.connections = 3;
    config.scenario.shares = Shares {
        duplicates: 0.1,
        late: 0.1,
        invalid: 0.1,
        gaps: 0.1,
    };
    let mut plan = Plan::new(&config.scenario, START).unwrap();
    let mut expected: Vec<_> = plan
        .by_ref()
        .map(|publication| publication.payload)
        .collect();
    let summary = publish(config).await;
    let mut received = broker.received();
    expected.sort();
    received.sort();
    assert!(received == expected);
    assert_eq!(summary.acknowledged, summary.published());
    assert_eq!(summary.telemetry, plan.summary().telemetry);
}

#[tokio::test]
async fn in_realtime_the_records_are_spread_over_the_time_and_a_stop_ends_the_fleet() {
    let broker = StubBroker::start(0, &[Manners::Answers]).await;
    let scenario = Scenario::new(2, 10, Duration::from_millis(200));
    let config = Config::new(broker.url(), scenario);
    let begin = Instant::now();
    let now = move || 1_750_000_000_000_000 + i64::try_from(begin.elapsed().as_micros()).unwrap();
    let shutdown = CancellationToken::new();
    let stopped = async {
        sleep(Duration::from_secs(1)).await;
        shutdown.cancel();
    };
    let (summary, ()) = tokio::join!(
        timeout(PATIENCE, run(config, now, shutdown.clone())),
        stopped
    );
    let summary = summary.unwrap().unwrap();
    // Ten buildings five times a second: about fifty, and a bad bound for a busy machine.
    assert!((20..=60).contains(&summary.telemetry.good), "{summary:?}");
    assert_eq!(
        (summary.acknowledged, summary.unacknowledged),
        (summary.telemetry.good, 0)
    );
}

#[tokio::test]
async fn a_stop_while_the_broker_is_away_ends_the_fleet() {
    let shutdown = CancellationToken::new();
    shutdown.cancel();
    let config = config("mqtt://127.0.0.1:1".to_owned(), 100);
    let summary = timeout(PATIENCE, run(config, || 0, shutdown))
        .await
        .unwrap()
        .unwrap();
    assert_eq!(summary.acknowledged, 0);
}

#[tokio::test]
async fn what_makes_no_sense_is_told_at_once() {
    let check = async |change: fn(&mut Config), expected: &str| {
        let mut config = config("mqtt://127.0.0.1:1".to_owned(), 1);
        change(&mut config);
        let failure: Failure = run(config, || 0, CancellationToken::new())
            .await
            .unwrap_err();
        assert_eq!(failure.to_string(), expected);
    };
    check(|c| c.connections = 0, "connections: expected 1 to 1000").await;
    check(
        |c| c.scenario.buildings = 0,
        "buildings: expected at least one",
    )
    .await;
    let address = "mqtt url: scheme http is not mqtt or mqtts";
    check(|c| c.mqtt_url = "http://u:secret@h".to_owned(), address).await;
}
