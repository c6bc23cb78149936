//! Moving to TimescaleDB while everything runs: `docs/operations/backup.md`.

use super::tables::client_program;
use crate::WATTLINE;
use crate::records::{meter, now};
use sqlx::PgPool;
use testkit::{Edition, Mode, World, eventually, servers};

/// Records that are published before the move, and beside it.
const RECORDS: i64 = 300;

/// A world whose database is plain, on a server that offers TimescaleDB.
async fn plain_beside_timescale() -> World {
    let mut world = World::new(WATTLINE, Mode::Direct).await;
    let dump = world.folder().join("wattline.dump").display().to_string();
    let source = world.settings["WATTLINE_DATABASE_URL"].clone();
    client_program("pg_dump", &["--format=custom", "--file", &dump, &source]);
    let target = servers::fresh_database(Edition::Timescale).await;
    client_program(
        "pg_restore",
        &["--no-owner", "--exit-on-error", "--dbname", &target, &dump],
    );
    world.database = PgPool::connect(&target).await.unwrap();
    world
        .settings
        .insert("WATTLINE_DATABASE_URL".to_owned(), target);
    world
}

#[tokio::test(flavor = "multi_thread")]
async fn a_database_moves_to_timescaledb_while_records_come_in_and_nothing_is_lost() {
    let world = plain_beside_timescale().await;
    assert!(world.command(&["check"]).contains("without TimescaleDB"));
    let building = world.building();
    let serve = world.serve().await;
    let controller = world.controller();
    let base = (now() / 900 - 4) * 900;
    let stored = async |records: i64| {
        eventually(
            async || match world.count("select count(*) from telemetry_record").await {
                count if count >= records => Ok(()),
                other => Err(other),
            },
        )
        .await;
    };
    for number in 0..RECORDS {
        controller
            .telemetry(building, meter(base + number, 5))
            .await;
    }
    stored(RECORDS / 2).await;
    tokio::join!(
        async {
            for number in RECORDS..2 * RECORDS {
                controller
                    .telemetry(building, meter(base + number, 7))
                    .await;
            }
            controller.confirmed().await;
        },
        async {
            let told = tokio::task::block_in_place(|| world.command(&["migrate"]));
            assert!(told.contains("with TimescaleDB"), "{told}");
        },
    );
    stored(2 * RECORDS).await;
    serve.ready().await;
    // As often as they were sent, in one hypertable, with all that is made of them.
    let rows = "select count(*) from telemetry_record";
    assert_eq!(world.count(rows).await, 2 * RECORDS);
    let hypertables = "select count(*) from timescaledb_information.hypertables";
    assert_eq!(world.count(hypertables).await, 3);
    let dead = "wattline_aggregator_dead_lettered_messages_total{reason=\"not_storable\"}";
    assert_eq!(serve.metric(dead).await, 0.0);
    eventually(
        async || match world.count("select count(*) from touched_minute").await {
            0 => Ok(()),
            other => Err(other),
        },
    )
    .await;
    let told = world.command(&["admin", "rebuild"]);
    assert!(
        told.contains("everything is what the stored records make"),
        "{told}"
    );
    let log = serve.log();
    assert!(!log.contains(" ERROR "), "{log}");
}
