//! The log tells the start and the end of an outage, once each.

use super::cause::{all_are_well, all_tell};
use crate::WATTLINE;
use serde_json::Value;
use std::time::Duration;
use testkit::{DatabaseServer, Edition, KafkaServer, Running, World};

/// How long an outage lasts: some hundred attempts of every kind.
const OUTAGE: Duration = Duration::from_secs(12);

/// The lines about one condition, by message.
fn lines(role: &Running, condition: &str, message: &str) -> usize {
    let log = role.log();
    let about = format!("condition=\"{condition}\"");
    let lines = log.lines().filter(|line| line.contains(&about));
    lines
        .filter(|line| line.contains(&format!(" {message} ")))
        .count()
}

/// All lines of a warning or worse.
fn warnings(role: &Running) -> Vec<String> {
    let log = role.log();
    let loud = |line: &&str| line.contains(" WARN ") || line.contains(" ERROR ");
    log.lines().filter(loud).map(str::to_owned).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn an_outage_of_every_server_is_one_line_at_its_start_and_one_at_its_end_for_each_condition()
{
    let kafka = tokio::task::spawn_blocking(KafkaServer::start)
        .await
        .unwrap();
    let database = tokio::task::spawn_blocking(DatabaseServer::start)
        .await
        .unwrap();
    let mut world = World::with_kafka(WATTLINE, Some(&kafka), Edition::Plain).await;
    let url = database.url();
    world
        .settings
        .insert("WATTLINE_DATABASE_URL".to_owned(), url);
    world.command(&["migrate"]);
    world.building();
    let roles = ["bridge", "aggregator", "control", "api"].map(|role| world.start(&[role]));
    let [bridge, aggregator, control, api] = &roles;
    let all = roles.each_ref();
    all_are_well("start", &all).await;
    let quiet: Vec<usize> = all.iter().map(|role| warnings(role).len()).collect();

    kafka.control().kill();
    database.control().kill();
    world.mosquitto().kill();
    let none: &[&str] = &[];
    all_tell(
        "all killed",
        &[
            (bridge, "mqtt", none),
            (bridge, "kafka", none),
            (api, "database", none),
        ],
    )
    .await;
    tokio::time::sleep(OUTAGE).await;
    tokio::task::block_in_place(|| {
        kafka.control().restart().unwrap();
        database.control().restart().unwrap();
        world.mosquitto().restart().unwrap();
    });
    all_are_well("all killed", &all).await;

    let conditions: [(&Running, &[&str]); 4] = [
        (bridge, &["mqtt", "kafka"]),
        (aggregator, &["kafka", "database", "folding"]),
        (control, &["mqtt", "database", "transitions"]),
        (api, &["database"]),
    ];
    for (place, (role, conditions)) in conditions.into_iter().enumerate() {
        for condition in conditions {
            let begun = lines(role, condition, "not ready");
            let ended = lines(role, condition, "ready again");
            // A server that comes back may go once more; it does not a thousand times.
            assert!(
                (1..=3).contains(&begun) && begun == ended,
                "{condition}: {}",
                role.log()
            );
        }
        let loud = warnings(role).len() - quiet[place];
        assert!(loud <= 8, "{loud} warnings: {:#?}", warnings(role));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn as_json_the_lines_of_an_outage_are_objects_with_condition_and_cause() {
    let database = tokio::task::spawn_blocking(DatabaseServer::start)
        .await
        .unwrap();
    let mut world = World::new(WATTLINE, testkit::Mode::Direct).await;
    let url = database.url();
    world
        .settings
        .insert("WATTLINE_DATABASE_URL".to_owned(), url);
    world
        .settings
        .insert("WATTLINE_LOG_FORMAT".to_owned(), "json".to_owned());
    world.command(&["migrate"]);
    let api = world.start(&["api"]);
    api.ready().await;
    database.control().kill();
    all_tell("killed", &[(&api, "database", &["database /"])]).await;
    tokio::task::block_in_place(|| database.control().restart().unwrap());
    all_are_well("killed", &[&api]).await;
    let lines: Vec<Value> = api
        .log()
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let of = |message: &str| {
        let mut about = lines.iter().filter(|it| it["message"] == message);
        let line = about.next().unwrap().clone();
        assert_eq!(about.next(), None);
        assert_eq!(line["condition"], "database");
        line
    };
    assert!(
        of("not ready")["cause"]
            .as_str()
            .unwrap()
            .contains("database /")
    );
    assert!(of("ready again")["seconds"].as_f64().unwrap() > 0.0);
}
