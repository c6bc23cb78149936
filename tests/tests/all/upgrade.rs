//! A rolling upgrade: an old and a new aggregator side by side, over a migration, under load.
//!
//! What is old and what is new here is the schema; that two releases get along is `make upgrade`'s to show.

use crate::WATTLINE;
use crate::scale::{Load, SERVED, served};
use sqlx::migrate::Migrator;
use std::collections::BTreeSet;
use std::path::Path;
use testkit::{BuildingPlan, Edition, Mode, World, eventually_within};

/// Some for each of twelve partitions.
const BUILDINGS: usize = 40;

/// The migrations of this release and one more.
async fn next_release() -> Migrator {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folder = tempfile::tempdir().unwrap();
    for entry in std::fs::read_dir(here.join("../crates/store/migrations")).unwrap() {
        let entry = entry.unwrap();
        std::fs::copy(entry.path(), folder.path().join(entry.file_name())).unwrap();
    }
    let more = here.join("tests/all/upgrade/next_release.sql");
    std::fs::copy(more, folder.path().join("9001_next_release.sql")).unwrap();
    Migrator::new(folder.path()).await.unwrap()
}

async fn aggregators_work_side_by_side_over_a_migration(edition: Edition) {
    let mut world = World::on(WATTLINE, Mode::Kafka, edition).await;
    let partitions = "WATTLINE_KAFKA_PARTITIONS".to_owned();
    world.settings.insert(partitions, "12".to_owned());
    let plans: Vec<BuildingPlan> = (0..BUILDINGS).map(|_| BuildingPlan::new()).collect();
    world.apply(&plans);
    let bridge = world.start(&["bridge"]);
    let api = world.start(&["api"]);
    let mut old = [world.start(&["aggregator"]), world.start(&["aggregator"])];
    for process in [&bridge, &api, &old[0], &old[1]] {
        process.ready().await;
    }
    let buildings = plans.iter().map(|plan| plan.uuid).collect();
    let load = Load::start(world.controller(), buildings);
    served(&world, "two of the old release").await;

    next_release().await.run(&world.database).await.unwrap();
    served(&world, "the schema is that of the next release").await;
    let new = world.start(&["aggregator"]);
    new.ready().await;
    served(&world, "one of the next release joins").await;
    assert!(old[0].stop().success());
    served(&world, "an old one leaves").await;
    let another = world.start(&["aggregator"]);
    another.ready().await;
    assert!(old[1].stop().success());
    served(&world, "the last old one has left").await;

    let published = load.stop().await;
    let total: usize = published.values().map(BTreeSet::len).sum();
    let wanted = i64::try_from(total).unwrap();
    eventually_within(SERVED * 3, async || {
        match world.count("select count(*) from telemetry_record").await {
            found if found == wanted => Ok(()),
            found => Err((found, wanted)),
        }
    })
    .await;
    assert_eq!(world.count("select count(*) from dead_letter").await, 0);
    for process in [&bridge, &api, &old[0], &old[1], &new, &another] {
        let log = process.log();
        assert!(!log.contains("ERROR"), "{log}");
        // What a server says when a statement was prepared for other columns.
        assert!(!log.contains("cached plan"), "{log}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn aggregators_work_side_by_side_over_a_migration_on_postgresql() {
    aggregators_work_side_by_side_over_a_migration(Edition::Plain).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn aggregators_work_side_by_side_over_a_migration_on_timescaledb() {
    aggregators_work_side_by_side_over_a_migration(Edition::Timescale).await;
}
