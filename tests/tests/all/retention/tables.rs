//! How raw records lie, and how they are carried over: from earlier releases, and to TimescaleDB.

use super::fixture::{History, KEPT, RAW, at, ingest};
use crate::WATTLINE;
use crate::records::now;
use crate::site::metered;
use sqlx::PgPool;
use sqlx::migrate::Migrator;
use std::path::Path;
use std::process::Command;
use store::{LogInUse, Store};
use testkit::{Edition, servers};
use uuid::Uuid;

async fn strings(pool: &PgPool, query: &str) -> Vec<String> {
    sqlx::query_scalar(query).fetch_all(pool).await.unwrap()
}

/// All rows of the raw tables, as text.
async fn raw(pool: &PgPool) -> Vec<Vec<String>> {
    let mut all = Vec::new();
    for table in RAW {
        let rows = format!("select to_jsonb(row)::text from {table} row order by 1");
        all.push(strings(pool, &rows).await);
    }
    all
}

async fn partitions(pool: &PgPool, table: &str) -> Vec<String> {
    let query = format!(
        "select substr(inhrelid::regclass::text, length('{table}_') + 1) from pg_inherits \
         where inhparent = '{table}'::regclass order by 1"
    );
    strings(pool, &query).await
}

#[tokio::test(flavor = "multi_thread")]
async fn days_are_dropped_as_partitions_and_what_has_none_row_by_row() {
    let history = History::new(Edition::Plain, &[]).await;
    let store = &history.site.store;
    let pool = &history.site.world.database;
    // Four days each: these, and those from today on that `migrate` has made.
    let ago = |days: i64| at(now() - days * 86_400);
    assert_eq!(store.make_raw_partitions(ago(12)).await.unwrap(), 3 * 4);
    assert_eq!(store.make_raw_partitions(ago(12)).await.unwrap(), 0);
    assert_eq!(partitions(pool, "key_value").await.len(), 4 + 4 + 1);
    for days in [13, 12, 10, 2] {
        let time = now() - days * 86_400;
        ingest(
            store,
            history.site.building,
            &[(time, metered(at(time), 5))],
        )
        .await;
    }
    let in_default = "select count(*) from telemetry_record_default";
    assert_eq!(history.site.world.count(in_default).await, 2);
    super::fixture::fold(store).await;
    let now = at(now());
    store
        .move_raw_horizon(now, KEPT, &LogInUse::default())
        .await
        .unwrap();
    let dropped = store.drop_raw().await.unwrap();
    assert_eq!((dropped.pieces, dropped.rows), (3 * 4, 1));
    let rows = history
        .site
        .world
        .count("select count(*) from telemetry_record")
        .await;
    assert_eq!(rows, 1);
    // A day that has rows without a partition is left to the default one.
    assert_eq!(store.make_raw_partitions(ago(2)).await.unwrap(), 3 * 2 - 1);
}

async fn dropping_gives_way_to_a_reader_that_takes_long(edition: Edition) {
    let history = History::new(edition, &[]).await;
    let (store, building) = (&history.site.store, history.site.building);
    let then = now() - 12 * 86_400;
    store.make_raw_partitions(at(then)).await.unwrap();
    ingest(store, building, &[(then, metered(at(then), 5))]).await;
    super::fixture::fold(store).await;
    let mut reader = history.site.world.database.begin().await.unwrap();
    sqlx::query("select count(*) from telemetry_record")
        .fetch_one(&mut *reader)
        .await
        .unwrap();
    let moved = store
        .move_raw_horizon(at(now()), KEPT, &LogInUse::default())
        .await;
    assert_eq!(moved.unwrap().held_back, None);
    let failure = store.drop_raw().await.unwrap_err();
    assert!(failure.is_transient(), "{failure}");
    // Whoever stores meanwhile waits for neither.
    let time = now() - 60;
    assert_eq!(
        ingest(store, building, &[(time, metered(at(time), 5))])
            .await
            .stored,
        1
    );
    reader.rollback().await.unwrap();
    assert!(store.drop_raw().await.unwrap().pieces > 0);
    assert_eq!(history.raw_rows("telemetry_record").await, (0, 1));
}

#[tokio::test(flavor = "multi_thread")]
async fn dropping_gives_way_to_a_reader_that_takes_long_on_postgresql() {
    dropping_gives_way_to_a_reader_that_takes_long(Edition::Plain).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn dropping_gives_way_to_a_reader_that_takes_long_on_timescaledb() {
    dropping_gives_way_to_a_reader_that_takes_long(Edition::Timescale).await;
}

/// Rows of an earlier release, over twenty days until now.
const EARLIER: &str = "
    insert into building (uuid, name) values ('00000000-0000-4000-8000-00000000000a', 'Depot');
    insert into telemetry_record (building_uuid, time, received_at, main_meter_status, main_meter_active_power_w)
    select '00000000-0000-4000-8000-00000000000a', time, time, 0, 5
    from generate_series(now() - interval '20 days', now(), interval '7 hours') time;
    insert into sensor_reading (building_uuid, time, sensor_id, received_at, value)
    select '00000000-0000-4000-8000-00000000000a', time, 1, time, 0.25
    from generate_series(now() - interval '20 days', now(), interval '7 hours') time;
    insert into key_value (building_uuid, key_sha256, time, received_at, key, value)
    select '00000000-0000-4000-8000-00000000000a', 'x', time, time, 'x', '1'
    from generate_series(now() - interval '20 days', now(), interval '7 hours') time;
    insert into presence (building_uuid, received_at, online)
    values ('00000000-0000-4000-8000-00000000000a', now(), true)";

/// A database as the release before had it.
async fn an_earlier_release(edition: Edition) -> (String, PgPool) {
    let url = servers::fresh_database(edition).await;
    let pool = PgPool::connect(&url).await.unwrap();
    let migrations = Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates/store/migrations");
    let folder = tempfile::tempdir().unwrap();
    for entry in std::fs::read_dir(migrations).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap();
        if name < "0007" {
            std::fs::copy(&path, folder.path().join(name)).unwrap();
        }
    }
    if edition == Edition::Timescale {
        sqlx::raw_sql("create extension timescaledb")
            .execute(&pool)
            .await
            .unwrap();
    }
    Migrator::new(folder.path())
        .await
        .unwrap()
        .run(&pool)
        .await
        .unwrap();
    if edition == Edition::Timescale {
        let hypertable = "select create_hypertable('telemetry_record', by_range('time', interval '6 hours'), \
                          create_default_indexes => false)";
        sqlx::raw_sql(hypertable).execute(&pool).await.unwrap();
    }
    sqlx::raw_sql(EARLIER).execute(&pool).await.unwrap();
    (url, pool)
}

async fn raw_records_of_an_earlier_release_are_carried_over(edition: Edition) {
    let (url, pool) = an_earlier_release(edition).await;
    let before = raw(&pool).await;
    assert!(before[0].len() > 60);
    let store = Store::open(&url, 2).unwrap();
    store.migrate().await.unwrap();
    assert_eq!(raw(&pool).await, before);
    // Again nothing changes, and new ones find their place.
    store.migrate().await.unwrap();
    let building = "00000000-0000-4000-8000-00000000000a".parse().unwrap();
    let time = now() - 60;
    let records = [(time, metered(at(time), 5))];
    assert_eq!(ingest(&store, building, &records).await.stored, 1);
    assert_eq!(ingest(&store, building, &records).await.stored, 0);
    assert_eq!(raw(&pool).await[0].len(), before[0].len() + 1);
    if edition == Edition::Plain {
        // What was there is one partition, until all of it is too old.
        assert!(
            partitions(&pool, "key_value")
                .await
                .contains(&"earlier".to_owned())
        );
        sqlx::query(
            "update raw_horizon set moment = date_bin('1 day', now() + interval '4 days', 'epoch')",
        )
        .execute(&pool)
        .await
        .unwrap();
        store.drop_raw().await.unwrap();
        assert_eq!(partitions(&pool, "key_value").await, ["default"]);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn raw_records_of_an_earlier_release_are_carried_over_on_postgresql() {
    raw_records_of_an_earlier_release_are_carried_over(Edition::Plain).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn raw_records_of_an_earlier_release_are_carried_over_on_timescaledb() {
    raw_records_of_an_earlier_release_are_carried_over(Edition::Timescale).await;
}

/// Runs a program of PostgreSQL's client; answers with what it printed.
pub(crate) fn client_program(program: &str, arguments: &[&str]) -> String {
    let output = Command::new(program).args(arguments).output().unwrap();
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{program}: {told}");
    String::from_utf8(output.stdout).unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_database_moves_to_timescaledb_with_all_that_is_in_it() {
    let history = History::new(Edition::Plain, &[9, 3, 1, 0]).await;
    let world = &history.site.world;
    history.retain().await;
    let (kept, rows) = (history.kept().await, raw(&world.database).await);
    let dump = world.folder().join("wattline.dump").display().to_string();
    let source = &world.settings["WATTLINE_DATABASE_URL"];
    client_program("pg_dump", &["--format=custom", "--file", &dump, source]);
    let target = servers::fresh_database(Edition::Timescale).await;
    client_program(
        "pg_restore",
        &["--no-owner", "--exit-on-error", "--dbname", &target, &dump],
    );
    let migrate = Command::new(WATTLINE)
        .args(["migrate", "--database-url", &target])
        .output()
        .unwrap();
    let told = String::from_utf8_lossy(&migrate.stdout);
    assert!(
        told.contains("with TimescaleDB"),
        "{told} {}",
        String::from_utf8_lossy(&migrate.stderr)
    );

    let pool = PgPool::connect(&target).await.unwrap();
    let hypertables =
        "select hypertable_name::text from timescaledb_information.hypertables order by 1";
    assert_eq!(
        strings(&pool, hypertables).await,
        ["key_value", "sensor_reading", "telemetry_record"]
    );
    let left = "select relname::text from pg_class where relname ~ '_(default|partitioned|2[0-9]{7})' \
                and relnamespace = 'public'::regnamespace";
    assert_eq!(strings(&pool, left).await, Vec::<String>::new());
    assert_eq!(raw(&pool).await, rows);
    for (table, rows) in kept {
        let there = format!("select to_jsonb(row)::text from {table} row");
        let there: Vec<String> = strings(&pool, &there).await;
        assert_eq!(there.len(), rows.len(), "{table}");
    }
    // It goes on there: what is known is known, what is new is stored.
    let store = Store::open(&target, 2).unwrap();
    let building: Uuid = history.site.building;
    let again = ingest(&store, building, &history.records).await;
    assert_eq!((again.stored, again.conflicts), (0, 0));
    let time = now() - 60;
    assert_eq!(
        ingest(&store, building, &[(time, metered(at(time), 5))])
            .await
            .stored,
        1
    );
}
