//! `admin rebuild`: what was made of records becomes what the records make, and what is right is not touched.

use crate::records::now;
use crate::retention::fixture::{History, KEPT, at, fold, incoming, ingest};
use crate::site::metered;
use domain::reading::Record;
use rand::{RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;
use serde_json::Value;
use std::collections::BTreeMap;
use store::{Batch, Period, Rebuilt, Run, Store};
use testkit::{Edition, World};
use uuid::Uuid;

/// What is made of records, each with its column of time and a column that damage changes.
const MADE: [(&str, &str, &str); 8] = [
    ("minute_bucket", "start", "last_power_w = last_power_w + 1"),
    ("quarter_bucket", "start", "samples = samples + 1"),
    (
        "day_bucket",
        "start",
        "positive_total_wus = positive_total_wus + 1",
    ),
    ("value_quarter", "start", "mean = mean + 1"),
    ("register_reading", "time", "reading = reading + 0.5"),
    ("register_event", "time", "kind = 'rollover'"),
    ("latest_sample", "time", "time = time + interval '1 day'"),
    ("latest_key_value", "time", "value = '\"other\"'"),
];

/// Rows that nothing has made, an hour from right ones.
const TOO_MUCH: [&str; 5] = [
    "insert into minute_bucket select (jsonb_populate_record(bucket,
         jsonb_build_object('start', start - interval '1 hour'))).* from minute_bucket bucket",
    "insert into quarter_bucket select (jsonb_populate_record(bucket,
         jsonb_build_object('start', start - interval '1 hour'))).* from quarter_bucket bucket",
    "insert into value_quarter select (jsonb_populate_record(bucket,
         jsonb_build_object('start', start - interval '1 hour'))).* from value_quarter bucket",
    "insert into register_reading select building_uuid, sensor_id, time - interval '1 hour', 5
     from register_reading bucket",
    "insert into register_event select building_uuid, sensor_id, time - interval '1 hour', 'reset', 5, 0
     from register_event bucket",
];

/// All that is made of records but how often it was amended.
async fn made(world: &World) -> BTreeMap<&'static str, Vec<String>> {
    let mut made = BTreeMap::new();
    for (table, _, _) in MADE {
        let rows = format!("select to_jsonb(row) - 'revision' as row from {table} row");
        let rows = world.rows(&rows).await;
        let mut rows: Vec<String> = rows.iter().map(Value::to_string).collect();
        rows.sort_unstable();
        made.insert(table, rows);
    }
    made
}

async fn execute(world: &World, statement: &str) -> u64 {
    let done = sqlx::query(statement).execute(&world.database).await;
    done.unwrap_or_else(|error| panic!("{statement}: {error}"))
        .rows_affected()
}

/// Damages some rows on one side of the horizon; answers how many.
async fn damage(world: &World, random: &mut ChaCha8Rng, side: &str) -> u64 {
    let mut damaged = 0;
    for (table, time, change) in MADE {
        let some = |random: &mut ChaCha8Rng| {
            format!(
                "ctid in (select ctid from {table} where {time} {side} (select moment from raw_horizon) \
                 order by md5(ctid::text || '{}') limit 3)",
                random.random::<u64>()
            )
        };
        damaged += execute(
            world,
            &format!("update {table} set {change} where {}", some(random)),
        )
        .await;
        if random.random() {
            damaged += execute(
                world,
                &format!("delete from {table} where {}", some(random)),
            )
            .await;
        }
    }
    damaged
}

async fn add_what_is_too_much(world: &World, random: &mut ChaCha8Rng) {
    for insert in TOO_MUCH {
        let time = if insert.contains("register") {
            "time"
        } else {
            "start"
        };
        let statement = format!(
            "{insert} where {time} >= (select moment from raw_horizon) + interval '1 hour' \
             order by md5(bucket.ctid::text || '{}') limit 2 on conflict do nothing",
            random.random::<u64>()
        );
        assert!(execute(world, &statement).await > 0, "{statement}");
    }
}

/// How many rows the command says that it found.
fn told(output: &str) -> u64 {
    let line = output.lines().find(|it| it.contains(" put right"));
    line.map_or(0, |it| it.split(' ').next().unwrap().parse().unwrap())
}

async fn random_damage_is_put_right(edition: Edition, seed: u64) {
    let history = History::new(edition, &[12, 11, 6, 5, 3, 2, 1]).await;
    let world = &history.site.world;
    history.retain().await;
    let right = made(world).await;
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    // The last one damages nothing.
    for round in 0..4 {
        if round < 3 {
            assert!(damage(world, &mut random, ">=").await > 0);
            add_what_is_too_much(world, &mut random).await;
            assert_ne!(made(world).await, right);
        }
        let damaged = history.kept().await;
        let dry = world.command(&["admin", "rebuild", "--dry-run"]);
        assert_eq!(history.kept().await, damaged, "{dry}");
        let output = world.command(&["admin", "rebuild"]);
        assert_eq!(
            made(world).await,
            right,
            "seed {seed}, round {round}: {output}"
        );
        assert_eq!(told(&output) > 0, round < 3, "{output}");
        assert_eq!(told(&dry) > 0, round < 3, "{dry}");
        // Again it changes nothing, revisions included.
        let kept = history.kept().await;
        let again = world.command(&["admin", "rebuild"]);
        assert!(
            again.contains("everything is what the stored records make"),
            "{again}"
        );
        assert_eq!(history.kept().await, kept);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn random_damage_is_put_right_on_postgresql() {
    for seed in 0..3 {
        random_damage_is_put_right(Edition::Plain, seed).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn random_damage_is_put_right_on_timescaledb() {
    random_damage_is_put_right(Edition::Timescale, 7).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_has_no_records_any_more_is_left_as_it_is_and_told() {
    let history = History::new(Edition::Plain, &[40, 12, 2]).await;
    let world = &history.site.world;
    let none_is_gone = world.command(&["admin", "rebuild"]);
    assert!(!none_is_gone.contains("left as it is"), "{none_is_gone}");
    history.retain().await;
    let mut random = ChaCha8Rng::seed_from_u64(5);
    let minutes =
        "update minute_bucket set samples = 7 where start < (select moment from raw_horizon)";
    assert!(execute(world, minutes).await > 0);
    let days = "delete from day_bucket where start < now() - interval '30 days'";
    assert!(execute(world, days).await > 0);
    // Totals count from the days before; those have been made of what is gone.
    let days = "delete from quarter_bucket where start < now() - interval '30 days'";
    assert!(execute(world, days).await > 0);
    let kept = history.kept().await;
    let output = world.command(&["admin", "rebuild"]);
    assert!(
        output.contains("has no records any more and is left as it is"),
        "{output}"
    );
    assert_eq!(told(&output), 0, "{output}");
    assert_eq!(history.kept().await, kept);
    // Nor is it told to whom asks for later days only.
    damage(world, &mut random, ">=").await;
    let since = (now() - 3 * 86_400).to_string();
    let output = world.command(&["admin", "rebuild", "--since", &since]);
    assert!(
        told(&output) > 0 && !output.contains("left as it is"),
        "{output}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn only_the_asked_building_and_days_are_rebuilt() {
    let history = History::new(Edition::Plain, &[3, 2]).await;
    let world = &history.site.world;
    let right = made(world).await;
    execute(world, "update minute_bucket set samples = 99").await;
    let building = history.site.building.to_string();
    let day = |days: i64| (now() - days * 86_400).to_string();
    let none = world.command(&["admin", "rebuild", "--until", &day(4)]);
    assert_eq!(told(&none), 0, "{none}");
    let stranger = world.attempt(&[
        "admin",
        "rebuild",
        "--building",
        &Uuid::new_v4().to_string(),
    ]);
    assert_eq!(stranger.status.code(), Some(1));
    let wrong = "select count(distinct date_bin('1 day', start, 'epoch')) from minute_bucket where samples = 99";
    assert_eq!(world.count(wrong).await, 2);
    let some = [
        "admin",
        "rebuild",
        "--building",
        &building,
        "--since",
        &day(2),
        "--until",
        &day(2),
    ];
    assert_eq!(
        told(&world.command(&some)),
        0,
        "nothing lies between a moment and itself"
    );
    world.command(&[
        "admin",
        "rebuild",
        "--building",
        &building,
        "--since",
        &day(2),
    ]);
    assert_eq!(world.count(wrong).await, 1);
    world.command(&["admin", "rebuild", "--building", &building]);
    assert_eq!(made(world).await, right);
}

/// Stores the records one by one, in an order of their own.
async fn store_all(store: &Store, building: Uuid, records: &[(i64, Record)]) {
    for record in records {
        ingest(store, building, std::slice::from_ref(record)).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_rebuild_beside_those_who_store_and_fold_changes_nothing_that_is_right() {
    let history = History::new(Edition::Plain, &[]).await;
    let world = &history.site.world;
    let other = world.building();
    let building = history.site.building;
    let base = now() - 3 * 86_400;
    let records: Vec<(i64, Record)> = (0..400)
        .map(|number| {
            // Minutes come again and again, out of order.
            let time = base + (number * 37) % 1_500;
            (time, metered(at(time), i32::try_from(number).unwrap()))
        })
        .collect();
    let url = &world.settings["WATTLINE_DATABASE_URL"];
    let open = || Store::open(url, 2).unwrap();
    let done = std::sync::atomic::AtomicBool::new(false);
    let is_done = || done.load(std::sync::atomic::Ordering::SeqCst);
    let writing = async {
        store_all(&open(), building, &records).await;
        done.store(true, std::sync::atomic::Ordering::SeqCst);
    };
    let folding = async {
        let store = open();
        while !is_done() {
            store.fold(at(now())).await.unwrap();
        }
    };
    let rebuilding = async {
        let (store, mut rounds) = (open(), 0);
        while !is_done() {
            let found = store
                .rebuild(building, Period::default(), at(now()), Run::Real)
                .await;
            assert_eq!(found.unwrap().rows(), 0);
            rounds += 1;
        }
        rounds
    };
    let ((), (), rounds) = tokio::join!(writing, folding, rebuilding);
    assert!(rounds > 3, "{rounds}");
    let all = records.iter();
    let all = all.map(|(time, record)| incoming(other, record.clone(), at(*time)));
    let batch = Batch {
        records: all.collect(),
        ..Batch::default()
    };
    open().ingest(&batch, KEPT).await.unwrap();
    fold(&open()).await;
    for table in ["minute_bucket", "quarter_bucket", "day_bucket"] {
        let of = async |building: Uuid| {
            let rows = format!(
                "select to_jsonb(row) - 'revision' - 'building_uuid' as row from {table} row \
                 where building_uuid = '{building}' order by series, start"
            );
            world.rows(&rows).await
        };
        let rows = of(building).await;
        assert!(!rows.is_empty());
        assert_eq!(rows, of(other).await, "{table}");
    }
    let again = open()
        .rebuild(building, Period::default(), at(now()), Run::Real)
        .await;
    let again = again.unwrap();
    assert_eq!(
        again,
        Rebuilt {
            days: again.days,
            ..Rebuilt::default()
        }
    );
}
