//! Scale out: bridges that share a subscription and aggregators in one group come and go under load.

use crate::WATTLINE;
use crate::records::{meter, now};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use testkit::{BuildingPlan, Controller, Mode, Running, World, eventually_within};
use tokio::task::JoinHandle;
use uuid::Uuid;

/// So many that every one of the twelve partitions has some.
const BUILDINGS: usize = 120;
/// Within this after a change every partition is served.
pub(crate) const SERVED: Duration = Duration::from_secs(10);
/// Each building publishes so often.
const EVERY: Duration = Duration::from_secs(1);

/// The times of what each building has published.
pub(crate) type Published = BTreeMap<Uuid, BTreeSet<i64>>;

/// A load that goes on until it is told to stop: one record a second for each building.
pub(crate) struct Load {
    stop: Arc<AtomicBool>,
    task: JoinHandle<(Controller, Published)>,
}

impl Load {
    pub(crate) fn start(controller: Controller, buildings: Vec<Uuid>) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let told = Arc::clone(&stop);
        #[expect(clippy::disallowed_methods, reason = "ended by stop")]
        let task = tokio::spawn(async move {
            let mut published = Published::new();
            let mut ticks = tokio::time::interval(EVERY);
            while !told.load(Ordering::SeqCst) {
                ticks.tick().await;
                let time = now();
                for building in &buildings {
                    let building = *building;
                    if published.entry(building).or_default().insert(time) {
                        let payload = meter(time, 100).into_bytes();
                        controller.telemetry(building, payload).await;
                    }
                }
            }
            (controller, published)
        });
        Self { stop, task }
    }

    pub(crate) async fn stop(self) -> Published {
        self.stop.store(true, Ordering::SeqCst);
        let (controller, published) = self.task.await.unwrap();
        controller.confirmed().await;
        published
    }
}

/// Waits until every building has a record that was published after this moment, and tells how long it took.
pub(crate) async fn served(world: &World, what: &str) {
    let (changed, begun) = (now() + 1, Instant::now());
    let behind = format!(
        "select count(*) from building where not exists (select from latest_sample latest \
         where latest.building_uuid = building.uuid and latest.time >= to_timestamp({changed}))"
    );
    eventually_within(SERVED + EVERY, async || match world.count(&behind).await {
        0 => Ok(()),
        behind => Err(format!("{what}: {behind} buildings are not served")),
    })
    .await;
    let took = begun.elapsed();
    assert!(took <= SERVED + EVERY, "{what}: {took:?}");
}

fn bridge(world: &mut World, number: usize) -> Running {
    let key = "WATTLINE_MQTT_CLIENT_ID".to_owned();
    world.settings.insert(key, format!("bridge-{number}"));
    world.start(&["bridge"])
}

#[tokio::test(flavor = "multi_thread")]
async fn four_bridges_and_four_aggregators_come_and_go_under_load_and_nothing_is_lost_or_doubled() {
    let mut world = World::new(WATTLINE, Mode::Kafka).await;
    for (key, value) in [("SHARE_GROUP", "bridges"), ("RECEIVE_MAXIMUM", "100")] {
        world
            .settings
            .insert(format!("WATTLINE_MQTT_{key}"), value.to_owned());
    }
    let partitions = "WATTLINE_KAFKA_PARTITIONS".to_owned();
    world.settings.insert(partitions, "12".to_owned());
    let plans: Vec<BuildingPlan> = (0..BUILDINGS).map(|_| BuildingPlan::new()).collect();
    world.apply(&plans);
    let mut bridges = vec![bridge(&mut world, 0)];
    let mut aggregators = vec![world.start(&["aggregator"])];
    bridges[0].ready().await;
    aggregators[0].ready().await;
    let buildings = plans.iter().map(|plan| plan.uuid).collect();
    let load = Load::start(world.controller(), buildings);
    served(&world, "one of each").await;

    for number in 1..4 {
        aggregators.push(world.start(&["aggregator"]));
        served(&world, "an aggregator joins").await;
        bridges.push(bridge(&mut world, number));
        bridges[number].ready().await;
        served(&world, "a bridge joins").await;
    }
    assert!(aggregators.remove(0).stop().success());
    served(&world, "an aggregator leaves").await;
    aggregators.remove(0).kill();
    served(&world, "an aggregator is killed").await;
    bridges[1].kill();
    bridges[1] = bridge(&mut world, 1);
    served(&world, "a bridge is killed and comes back").await;
    assert!(bridges[2].stop().success());
    bridges[2] = bridge(&mut world, 2);
    served(&world, "a bridge leaves and comes back").await;
    aggregators.push(world.start(&["aggregator"]));
    served(&world, "an aggregator joins again").await;

    let published = load.stop().await;
    let total: usize = published.values().map(BTreeSet::len).sum();
    let stored = "select count(*) from telemetry_record";
    let wanted = i64::try_from(total).unwrap();
    eventually_within(SERVED * 3, async || match world.count(stored).await {
        found if found == wanted => Ok(()),
        found => Err((found, wanted)),
    })
    .await;
    assert_eq!(world.count("select count(*) from dead_letter").await, 0);
    let twice = "select count(*) from (select 1 from telemetry_record group by building_uuid, time having count(*) > 1) t";
    assert_eq!(world.count(twice).await, 0);
}

/// A database that answers slowly is the aggregators' trouble: what comes in is taken and acknowledged as before.
#[tokio::test(flavor = "multi_thread")]
async fn a_slow_database_slows_the_aggregators_only() {
    let world = World::new(WATTLINE, Mode::Kafka).await;
    let building = world.building();
    let bridge = world.start(&["bridge"]);
    let aggregator = world.start(&["aggregator"]);
    bridge.ready().await;
    aggregator.ready().await;
    let mut lock = world.database.begin().await.unwrap();
    sqlx::raw_sql("lock table telemetry_record in access exclusive mode")
        .execute(&mut *lock)
        .await
        .unwrap();
    let controller = world.controller();
    let end = now() - 60;
    for number in 0..2_000 {
        controller
            .telemetry(building, meter(end - number, 100))
            .await;
    }
    let begun = Instant::now();
    controller.confirmed().await;
    testkit::eventually(async || {
        let metrics = bridge.metrics().await;
        let forwarded = metrics["wattline_bridge_forwarded_messages_total"];
        let in_flight = metrics["wattline_bridge_in_flight_messages"];
        if forwarded >= 2_000.0 && in_flight == 0.0 {
            Ok(())
        } else {
            Err((forwarded, in_flight))
        }
    })
    .await;
    assert!(begun.elapsed() < SERVED, "{:?}", begun.elapsed());
    let (status, body) = bridge.readiness().await.unwrap();
    assert_eq!(status, 200, "{body}");
    assert_eq!(
        aggregator
            .metric("wattline_aggregator_stored_messages_total")
            .await,
        0.0
    );
    lock.rollback().await.unwrap();
    testkit::eventually(async || {
        match world.count("select count(*) from telemetry_record").await {
            2_000 => Ok(()),
            found => Err(found),
        }
    })
    .await;
}
