//! What `check` and the roles find at their start: limits of the broker, weak topics, a schema that does not fit.

use super::cause::{all_are_well, all_tell};
use super::log::set_topic;
use crate::WATTLINE;
use std::process::Output;
use testkit::{Edition, Mode, World, eventually};

fn told(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

/// Starts the world's broker again with more lines of configuration.
fn limit_broker(world: &World, lines: &str) {
    let path = world.folder().join("mosquitto/mosquitto.conf");
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, format!("{text}{lines}\n")).unwrap();
    tokio::task::block_in_place(|| world.mosquitto().restart().unwrap());
}

#[tokio::test(flavor = "multi_thread")]
async fn check_and_roles_tell_what_a_brokers_limits_lose() {
    let world = World::new(WATTLINE, Mode::Direct).await;
    let told_well = world.command(&["check"]);
    assert!(
        told_well.contains("ok        mqtt: connected"),
        "{told_well}"
    );
    assert!(
        !told_well.contains("WRONG") && !told_well.contains("warning   mqtt"),
        "{told_well}"
    );

    limit_broker(
        &world,
        "retain_available false\nmax_packet_size 65536\nmax_inflight_messages 20",
    );
    let output = world.attempt(&["check"]);
    assert_eq!(output.status.code(), Some(1), "{}", told(&output));
    for part in [
        "ok        mqtt: connected",
        "WRONG     mqtt: the broker retains nothing",
        "warning   mqtt: it takes packets up to 65536 bytes",
        "warning   mqtt: it has 20 messages in flight at most",
    ] {
        assert!(told(&output).contains(part), "{part} in {}", told(&output));
    }

    // A role says the same, once, and works as far as it can.
    let control = world.start(&["control"]);
    control.ready().await;
    let loud = |text: &str| {
        let log = control.log();
        log.lines()
            .filter(|it| it.contains(" ERROR ") && it.contains(text))
            .count()
    };
    assert_eq!(loud("the broker retains nothing"), 1, "{}", control.log());
    world.mosquitto().kill();
    tokio::task::block_in_place(|| world.mosquitto().restart().unwrap());
    all_are_well("restarted", &[&control]).await;
    assert_eq!(loud("the broker retains nothing"), 1, "{}", control.log());
}

#[tokio::test(flavor = "multi_thread")]
async fn check_and_roles_tell_what_weak_topics_lose() {
    let world = World::new(WATTLINE, Mode::Kafka).await;
    let bridge = world.start(&["bridge"]);
    bridge.ready().await;
    let told_well = world.command(&["check"]);
    // One replica is all that one broker has: no more than a warning, said once for all topics.
    let one = "it has one replica: what its broker's disk loses is lost";
    assert_eq!(told_well.matches(one).count(), 1, "{told_well}");
    assert!(!told_well.contains("WRONG"), "{told_well}");

    let kafka = testkit::servers::shared_kafka();
    let (telemetry, dead_letters) = (world.topic("telemetry"), world.topic("dead-letters"));
    let weak = [("cleanup.policy", "compact"), ("retention.ms", "3600000")];
    set_topic(kafka, &telemetry, &weak).await;
    set_topic(kafka, &dead_letters, &[("max.message.bytes", "100000")]).await;
    let parts = [
        format!("WRONG     kafka: {telemetry}: cleanup.policy holds compact"),
        format!("WRONG     kafka: {telemetry}: retention.ms is 3600000"),
        format!("WRONG     kafka: {dead_letters}: max.message.bytes is 100000"),
        "it has 4 partitions, and the setting kafka_partitions says 5".to_owned(),
    ];
    // Kafka takes a moment until it tells what it was told.
    eventually(async || {
        let output = world.attempt(&["check", "--kafka-partitions", "5"]);
        let text = told(&output);
        if output.status.code() == Some(1) && parts.iter().all(|part| text.contains(part)) {
            Ok(())
        } else {
            Err(text)
        }
    })
    .await;

    for role in ["bridge", "aggregator"] {
        let another = world.start(&[role]);
        another.ready().await;
        eventually(async || {
            let log = another.log();
            let loud = |text: &str| {
                log.lines()
                    .any(|it| it.contains(" ERROR ") && it.contains(text))
            };
            if loud("cleanup.policy") && loud("retention.ms") && loud("max.message.bytes") {
                Ok(())
            } else {
                Err(format!("{role}: {log}"))
            }
        })
        .await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_schema_that_is_newer_is_worked_with_unless_it_says_that_it_breaks() {
    let world = World::new(WATTLINE, Mode::Direct).await;
    let building = world.building();
    let serve = world.serve().await;
    let add =
        "insert into _sqlx_migrations (version, description, success, checksum, execution_time)
        values ($1, $2, true, '', 0)";
    let newer = sqlx::query(add).bind(9_001_i64).bind("more columns");
    newer.execute(&world.database).await.unwrap();
    let told_newer = world.command(&["check"]);
    assert!(
        told_newer.contains("warning   database: the schema has 1 migrations"),
        "{told_newer}"
    );
    world.command(&["migrate"]);
    serve.ready().await;

    let breaking = sqlx::query(add).bind(9_002_i64).bind("breaking names");
    breaking.execute(&world.database).await.unwrap();
    let words: &[&str] = &["newer than this binary can work with (migrations 9001, 9002)"];
    all_tell("breaking", &[(&serve, "database", words)]).await;
    for command in ["check", "migrate"] {
        let output = world.attempt(&[command]);
        assert_eq!(output.status.code(), Some(1));
        let text = told(&output) + &String::from_utf8_lossy(&output.stderr);
        assert!(
            text.contains("newer than this binary can work with"),
            "{text}"
        );
    }
    // Nothing is written: neither by who was there, nor by who comes.
    let another = world.start_another_api().0;
    all_tell("breaking", &[(&another, "database", words)]).await;
    // Each pool is closed once its own watch has looked.
    eventually(async || match serve.readiness().await? {
        (_, body) if body["conditions"]["folding"] != "ready" => Ok(()),
        (_, body) => Err(body.to_string()),
    })
    .await;
    let controller = world.controller();
    let time = crate::records::now();
    controller
        .telemetry(building, crate::records::meter(time, 5))
        .await;
    controller.confirmed().await;
    let held = "wattline_bridge_oldest_unacknowledged_seconds";
    eventually(async || match serve.metric(held).await {
        age if age > 2.0 => Ok(()),
        other => Err(other),
    })
    .await;
    assert_eq!(
        world.count("select count(*) from telemetry_record").await,
        0
    );

    sqlx::query("delete from _sqlx_migrations where version > 9000")
        .execute(&world.database)
        .await
        .unwrap();
    all_are_well("taken back", &[&serve, &another]).await;
    eventually(async || {
        match serve
            .metric("wattline_aggregator_stored_messages_total")
            .await
        {
            1.0 => Ok(()),
            other => Err(other),
        }
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_schema_that_is_older_is_told_with_its_missing_migrations() {
    let world = World::new(WATTLINE, Mode::Direct).await;
    sqlx::query("delete from _sqlx_migrations where version = 6")
        .execute(&world.database)
        .await
        .unwrap();
    let output = world.attempt(&["check"]);
    assert_eq!(output.status.code(), Some(1));
    let text = told(&output);
    assert!(
        text.contains("MISSING   database") && text.contains("migration 0006"),
        "{text}"
    );
    let api = world.start(&["api"]);
    let words: &[&str] = &["migration 0006", "run `wattline migrate`"];
    all_tell("older", &[(&api, "database", words)]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn check_tells_the_edition_a_database_that_takes_no_writes_and_tables_of_others() {
    let mut world = World::on(WATTLINE, Mode::Direct, Edition::Timescale).await;
    let well = world.command(&["check"]);
    // The database of most tests is of those that a crash takes with it.
    let durable = "warning   database: fsync is off";
    assert!(well.contains(durable), "{well}");
    let well = well.replace(durable, "");
    let edition = "(Apache edition), schema up to date";
    assert!(
        well.contains(edition) && !well.contains("warning"),
        "{well}"
    );
    assert!(world.command(&["migrate"]).contains("(Apache edition)"));

    let name: String = sqlx::query_scalar("select current_database()::text")
        .fetch_one(&world.database)
        .await
        .unwrap();
    let change = async |statement: String| {
        sqlx::raw_sql(&statement)
            .execute(&world.database)
            .await
            .unwrap();
    };
    change(format!(
        "alter database {name} set default_transaction_read_only = on; \
         alter database {name} set synchronous_commit = off"
    ))
    .await;
    let output = world.attempt(&["check"]);
    assert_eq!(output.status.code(), Some(1), "{}", told(&output));
    assert!(
        told(&output).contains("MISSING   database: database ")
            && told(&output).contains("the database is read-only"),
        "{}",
        told(&output)
    );
    change(format!(
        "alter database {name} reset default_transaction_read_only"
    ))
    .await;

    // A role that may do everything but drop.
    change(format!(
        "create role {name}_app login; grant all on all tables in schema public to {name}_app; \
         grant all on all sequences in schema public to {name}_app"
    ))
    .await;
    let url = world.settings["WATTLINE_DATABASE_URL"].replace("postgres@", &format!("{name}_app@"));
    world
        .settings
        .insert("WATTLINE_DATABASE_URL".to_owned(), url);
    let warned = world.command(&["check"]);
    let words =
        "warning   database: the role does not own key_value, sensor_reading, telemetry_record";
    assert!(warned.contains(words), "{warned}");
    let commit = "warning   database: synchronous_commit is off";
    assert!(warned.contains(commit), "{warned}");
}
