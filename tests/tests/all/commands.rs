//! What an operator types: exit codes, one line that says what is wrong, health.

use crate::WATTLINE;
use std::process::{Command, Output};
use std::time::Duration;
use testkit::{Mode, World, eventually};

fn wattline(arguments: &[&str], environment: &[(&str, &str)]) -> Output {
    Command::new(WATTLINE)
        .args(arguments)
        .envs(environment.iter().copied())
        .output()
        .unwrap()
}

fn told(output: &Output) -> String {
    String::from_utf8(output.stderr.clone())
        .unwrap()
        .trim_end()
        .to_owned()
}

#[test]
fn wrong_settings_end_with_code_2_and_one_line_that_names_setting_source_and_expectation() {
    let check = |arguments: &[&str], environment: &[(&str, &str)], parts: &[&str]| {
        let output = wattline(arguments, environment);
        let told = told(&output);
        assert_eq!(output.status.code(), Some(2), "{told}");
        assert_eq!(told.lines().count(), 1, "{told}");
        for part in parts {
            assert!(told.contains(part), "{part} in {told}");
        }
    };
    check(
        &["aggregator"],
        &[("WATTLINE_RAW_RETENTION", "2h")],
        &["WATTLINE_RAW_RETENTION", "environment", "49h"],
    );
    check(&["migrate"], &[], &["database_url"]);
    check(
        &["migrate", "--database-url", "mysql://root:secret@x/y"],
        &[],
        &["database-url", "postgres://"],
    );
    check(
        &["bridge", "--mqtt-share-group", "a/b"],
        &[],
        &["mqtt-share-group", "a name without"],
    );
    check(
        &["aggregator", "--database-url", "postgres://h:notaport/x"],
        &[],
        &["database-url"],
    );
    check(
        &["bridge"],
        &[("WATTLINE_KAFKA_OPTIONS", "acks=1")],
        &["WATTLINE_KAFKA_OPTIONS", "acks"],
    );
    check(
        &["bridge", "--kafka-topic-prefix", "a b"],
        &[],
        &["kafka-topic-prefix"],
    );
    let folder = std::env::temp_dir().join(format!("wattline-{}.toml", uuid::Uuid::new_v4()));
    std::fs::write(&folder, "kafka_brokerz = \"x\"\n").unwrap();
    let path = folder.display().to_string();
    check(
        &["bridge", "--config", &path],
        &[],
        &["kafka_brokerz", &path],
    );
    std::fs::remove_file(&folder).unwrap();
}

#[test]
fn wrong_usage_ends_with_code_2_and_help_with_code_0() {
    assert_eq!(wattline(&["fly"], &[]).status.code(), Some(2));
    assert_eq!(
        wattline(&["dead-letters", "list", "--reason", "boredom"], &[])
            .status
            .code(),
        Some(2)
    );
    for role in [
        "serve",
        "bridge",
        "aggregator",
        "api",
        "migrate",
        "check",
        "simulate",
        "demo",
    ] {
        let output = wattline(&[role, "--help"], &[]);
        assert_eq!(output.status.code(), Some(0));
        let help = String::from_utf8(output.stdout).unwrap();
        assert!(help.contains("WATTLINE_LOG"), "{role}: {help}");
    }
}

#[test]
fn a_secret_is_shown_by_no_command() {
    let secrets = [
        (
            "WATTLINE_DATABASE_URL",
            "postgres://ada:sesame@127.0.0.1:1/none?sslpassword=sesame",
        ),
        ("WATTLINE_MQTT_URL", "mqtt://ada:sesame@127.0.0.1:1"),
        ("WATTLINE_KAFKA_OPTIONS", "sasl.passwrod=sesame"),
        ("WATTLINE_KAFKA_BROKERS", "127.0.0.1:1"),
    ];
    for arguments in [
        &["check"][..],
        &["serve", "--help"],
        &["migrate"],
        &["bridge", "--log-mode", "x"],
    ] {
        let output = wattline(arguments, &secrets);
        for text in [output.stdout, output.stderr] {
            let text = String::from_utf8(text).unwrap();
            assert!(!text.contains("sesame"), "{arguments:?}: {text}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn check_tells_what_it_found_and_what_is_missing() {
    let world = World::new(WATTLINE, Mode::Kafka).await;
    let told = world.command(&["check"]);
    for part in [
        "database: PostgreSQL 1",
        "mqtt: connected",
        "kafka: 1 brokers",
        "token keys:",
    ] {
        assert!(told.contains(part), "{part} in {told}");
    }
    world.mosquitto().stop();
    let output = world.attempt(&["check"]);
    assert_eq!(output.status.code(), Some(1));
    let told = String::from_utf8(output.stdout).unwrap();
    assert!(told.contains("MISSING   mqtt"), "{told}");
    assert!(told.contains("ok        database"), "{told}");
}

#[tokio::test(flavor = "multi_thread")]
async fn migrations_are_safe_when_several_start_at_once_and_again() {
    let world = World::new(WATTLINE, Mode::Direct).await;
    sqlx::query("drop schema public cascade")
        .execute(&world.database)
        .await
        .unwrap();
    sqlx::query("create schema public")
        .execute(&world.database)
        .await
        .unwrap();
    let mut running = Vec::new();
    for _ in 0..4 {
        let child = Command::new(WATTLINE)
            .arg("migrate")
            .envs(&world.settings)
            .spawn()
            .unwrap();
        running.push(child);
    }
    for mut child in running {
        assert!(child.wait().unwrap().success());
    }
    world.command(&["migrate"]);
    assert_eq!(
        world.count("select count(*) from telemetry_record").await,
        0
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_process_that_is_told_to_stop_exits_0() {
    let world = World::new(WATTLINE, Mode::Kafka).await;
    for role in ["bridge", "aggregator", "api", "serve"] {
        for signal in ["TERM", "INT"] {
            let mut running = world.start(&[role]);
            running.ready().await;
            running.signal(signal);
            let status = running.wait(Duration::from_secs(11));
            assert_eq!(status.code(), Some(0), "{role}: {}", running.log());
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn servers_that_are_away_at_the_start_are_waited_for() {
    let mut world = World::new(WATTLINE, Mode::Direct).await;
    let database_url = world.settings["WATTLINE_DATABASE_URL"].clone();
    world.mosquitto().stop();
    sqlx::query("drop schema public cascade")
        .execute(&world.database)
        .await
        .unwrap();
    sqlx::query("create schema public")
        .execute(&world.database)
        .await
        .unwrap();
    world
        .settings
        .insert("WATTLINE_DATABASE_URL".to_owned(), database_url);
    let serve = world.start(&["serve"]);
    let conditions = eventually(async || match serve.readiness().await {
        Ok((503, body)) if body["conditions"]["mqtt"] != "starting" => {
            Ok(body["conditions"].clone())
        }
        other => Err(other),
    })
    .await;
    assert_ne!(conditions["mqtt"], "ready");
    eventually(async || match serve.readiness().await {
        Ok((503, body))
            if body["conditions"]["database"]
                .to_string()
                .contains("migrate") =>
        {
            Ok(())
        }
        other => Err(other),
    })
    .await;
    tokio::task::block_in_place(|| world.mosquitto().restart().unwrap());
    world.command(&["migrate"]);
    serve.ready().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_port_in_use_is_told_in_one_line() {
    let mut world = World::new(WATTLINE, Mode::Direct).await;
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    world
        .settings
        .insert("WATTLINE_HTTP_LISTEN".to_owned(), address.clone());
    let mut serve = world.start(&["serve"]);
    assert_eq!(serve.wait(Duration::from_secs(15)).code(), Some(1));
    let log = serve.log();
    let line = log
        .lines()
        .find(|line| line.starts_with("wattline: "))
        .unwrap();
    assert!(
        line.contains(&address) && line.contains("http_listen"),
        "{line}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn applying_a_fleet_file_again_changes_nothing() {
    let world = World::new(WATTLINE, Mode::Direct).await;
    let fleet = simulator::Fleet::new(3, 4).fleet_file("open sesame");
    let everything = async || {
        let mut tables = Vec::new();
        for table in ["building", "sensor_hub", "sensor", "app_user", "membership"] {
            tables.push(
                world
                    .rows(&format!("select * from {table} order by 1, 2"))
                    .await,
            );
        }
        tables
    };
    world.apply_fleet(&fleet);
    let before = everything().await;
    assert_eq!(before[0].len(), 4);
    world.apply_fleet(&fleet);
    assert_eq!(everything().await, before);
    // Nothing is deleted unless asked for.
    world.apply_fleet(&serde_json::json!({}));
    assert_eq!(everything().await, before);
    let path = world.folder().join("empty.json");
    std::fs::write(&path, "{}").unwrap();
    world.command(&["admin", "apply", "--prune", &path.display().to_string()]);
    assert_eq!(
        everything().await,
        [const { Vec::<serde_json::Value>::new() }; 5]
    );
}

#[test]
fn schemas_prints_one_object_of_schemas_by_record_name() {
    let output = wattline(&["schemas"], &[]);
    let schemas: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let names: Vec<&String> = schemas.as_object().unwrap().keys().collect();
    assert_eq!(
        names,
        ["telemetry", "readings", "keyvalues", "reported", "presence"]
    );
    let published = include_str!("../../../schemas/telemetry-1.0.0.schema.json");
    let published: serde_json::Value = serde_json::from_str(published).unwrap();
    assert_eq!(schemas["telemetry"], published);
}

#[tokio::test(flavor = "multi_thread")]
async fn logs_are_one_json_object_a_line_when_asked_for() {
    let mut world = World::new(WATTLINE, Mode::Direct).await;
    world
        .settings
        .insert("WATTLINE_LOG_FORMAT".to_owned(), "json".to_owned());
    let mut serve = world.serve().await;
    assert!(serve.stop().success());
    let log = serve.log();
    assert!(log.lines().count() > 2);
    for line in log.lines() {
        let line: serde_json::Value = serde_json::from_str(line).unwrap();
        assert!(
            line["timestamp"].is_string() && line["level"].is_string(),
            "{line}"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_simulator_writes_a_fleet_file_that_matches_its_records() {
    let world = World::new(WATTLINE, Mode::Direct).await;
    let path = world.folder().join("fleet.json").display().to_string();
    let simulate = |arguments: &[&str]| {
        let all = [
            "simulate",
            "--buildings",
            "3",
            "--seed",
            "9",
            "--interval",
            "100ms",
        ];
        world.command(&[&all[..], arguments].concat())
    };
    let _serve = world.serve().await;
    simulate(&["--duration", "100ms", "--fleet-file", &path]);
    let written = std::fs::read_to_string(&path).unwrap();
    world.command(&["admin", "apply", &path]);
    let told = simulate(&[
        "--duration",
        "2s",
        "--invalid",
        "0.2",
        "--gaps",
        "0.1",
        "--fleet-file",
        &path,
    ]);
    assert!(told.starts_with("published "), "{told}");
    assert_eq!(
        std::fs::read_to_string(&path).unwrap(),
        written,
        "the same seed, the same bytes"
    );
    eventually(async || {
        match world
            .count("select count(distinct building_uuid) from telemetry_record")
            .await
        {
            3 => Ok(()),
            other => Err(other),
        }
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_link_to_a_building_that_does_not_exist_is_told_by_user_and_building() {
    let world = World::new(WATTLINE, Mode::Direct).await;
    let path = world.folder().join("fleet.json");
    let stranger = uuid::Uuid::new_v4();
    let fleet = serde_json::json!({"users": [{"username": "ada", "password": "x",
        "buildings": [{"uuid": stranger, "role": "viewer"}]}]});
    std::fs::write(&path, fleet.to_string()).unwrap();
    let output = world.attempt(&["admin", "apply", &path.display().to_string()]);
    assert_eq!(output.status.code(), Some(1));
    let told = told(&output);
    assert!(
        told.contains("ada") && told.contains(&stranger.to_string()),
        "{told}"
    );
    assert_eq!(
        world.count("select count(*) from app_user").await,
        0,
        "all or nothing"
    );
}
