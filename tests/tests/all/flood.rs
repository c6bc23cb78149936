//! A building that floods is limited, and hurts nobody.

use crate::WATTLINE;
use crate::records::{meter, now};
use std::collections::BTreeMap;
use std::time::{Duration, Instant};
use testkit::{BuildingPlan, Controller, Mode, Running, World, eventually_within};
use uuid::Uuid;

/// Messages of the flood, and the limit of the test: an hour's worth is less.
const FLOOD: i64 = 40_000;
const LIMIT: i64 = 3;
/// The flood is so many messages every 50 ms: 5,000 a second.
const AT_ONCE: i64 = 250;
const OTHERS: usize = 5;

/// How long a record of another building took until it was in the database.
async fn readable_after(world: &World, controller: &Controller, building: Uuid) -> Duration {
    let time = now();
    let begun = Instant::now();
    controller.telemetry(building, meter(time, 7)).await;
    let there = format!(
        "select count(*) from telemetry_record where building_uuid = '{building}' \
         and time = to_timestamp({time})"
    );
    eventually_within(Duration::from_secs(20), async || {
        match world.count(&there).await {
            1 => Ok(()),
            other => Err(other),
        }
    })
    .await;
    begun.elapsed()
}

async fn others_are_served(
    world: &World,
    buildings: &[Uuid],
    until: &std::cell::Cell<bool>,
) -> Vec<Duration> {
    let controller = world.controller();
    let mut delays = Vec::new();
    let mut seconds = tokio::time::interval(Duration::from_millis(1_050));
    while !until.get() {
        seconds.tick().await;
        let [one, two, three, four, five] = buildings
            .first_chunk()
            .unwrap()
            .map(|building| readable_after(world, &controller, building));
        let all = tokio::join!(one, two, three, four, five);
        delays.extend([all.0, all.1, all.2, all.3, all.4]);
    }
    delays
}

async fn sum(serve: &Running, series: &str) -> f64 {
    let scrape: BTreeMap<String, f64> = serve.metrics().await;
    let of = scrape.iter().filter(|(name, _)| name.starts_with(series));
    of.map(|(_, value)| value).sum()
}

async fn a_flood_is_limited(mode: Mode) {
    let mut world = World::new(WATTLINE, mode).await;
    world.settings.insert(
        "WATTLINE_BUILDING_MESSAGE_LIMIT".to_owned(),
        LIMIT.to_string(),
    );
    let plans: Vec<BuildingPlan> = (0..=OTHERS).map(|_| BuildingPlan::new()).collect();
    world.apply(&plans);
    let buildings: Vec<Uuid> = plans.iter().map(|plan| plan.uuid).collect();
    let (flooding, others) = (buildings[0], &buildings[1..]);
    let serve = world.serve().await;
    let begin = now() - 100_000;
    let is_over = std::cell::Cell::new(false);
    let begun = Instant::now();
    let flood = async {
        let controller = world.controller();
        let mut pace = tokio::time::interval(Duration::from_millis(50));
        for second in 0..FLOOD {
            if second % AT_ONCE == 0 {
                pace.tick().await;
            }
            controller
                .telemetry(flooding, meter(begin + second, 5))
                .await;
        }
        controller.confirmed().await;
        let published = begun.elapsed();
        let there = format!(
            "select (select count(*) from telemetry_record where building_uuid = '{flooding}') + \
             (select count(*) from dead_letter where building_uuid = '{flooding}')"
        );
        eventually_within(Duration::from_secs(120), async || {
            match world.count(&there).await {
                count if count >= FLOOD => Ok(()),
                other => Err(other),
            }
        })
        .await;
        is_over.set(true);
        published
    };
    let (published, delays) = tokio::join!(flood, others_are_served(&world, others, &is_over));
    tell(mode, published, begun.elapsed(), &delays);
    // Other tests run beside this one: one in ten may have waited for them.
    let mut slowest = delays;
    slowest.sort_unstable();
    let nine_of_ten = slowest[slowest.len() * 9 / 10];
    assert!(nine_of_ten < Duration::from_secs(2), "{slowest:?}");

    // Each message of the flood is stored or a letter, and what is beyond the limit is a letter.
    let stored =
        format!("select count(*) from telemetry_record where building_uuid = '{flooding}'");
    let stored = world.count(&stored).await;
    let letters = world.count("select count(*) from dead_letter").await;
    let over = world
        .count("select count(*) from dead_letter where reason = 'over_limit'")
        .await;
    assert_eq!((stored + letters, letters), (FLOOD, over));
    let seconds = i64::try_from(begun.elapsed().as_secs()).unwrap() + 1;
    let most = LIMIT * (3_600 + seconds);
    assert!(
        (LIMIT * 3_600..=most).contains(&stored),
        "{stored} of {most}"
    );
    let counted = "wattline_bridge_dead_lettered_messages_total{reason=\"over_limit\"}";
    #[expect(clippy::cast_precision_loss, reason = "some ten thousand messages")]
    let letters = letters as f64;
    assert!(
        sum(&serve, counted).await >= letters,
        "repetitions are counted too"
    );
    assert_eq!(
        serve.metric("wattline_bridge_flooding_buildings").await,
        1.0
    );
    assert_eq!(serve.log().matches("more than one may").count(), 1);

    // The limit is of what comes in, not of what is replayed.
    let replay = ["dead-letters", "replay", "--reason", "over_limit"];
    let told = world.command(&replay);
    assert!(
        told.starts_with(&format!("stored  {}\n", FLOOD - stored)),
        "{told}"
    );
}

#[expect(
    clippy::print_stdout,
    reason = "measured figures, shown with --nocapture"
)]
fn tell(mode: Mode, published: Duration, all: Duration, delays: &[Duration]) {
    let mut delays = delays.to_vec();
    delays.sort_unstable();
    println!(
        "{mode:?}: {FLOOD} messages of a flood published in {published:?}, all with a fate after {all:?}; \
         {} records of others readable after {:?} in the middle, {:?} at most",
        delays.len(),
        delays[delays.len() / 2],
        delays[delays.len() - 1],
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_building_that_floods_is_limited_without_hurting_the_others() {
    a_flood_is_limited(Mode::Kafka).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_building_that_floods_is_limited_without_hurting_the_others_in_direct_mode() {
    a_flood_is_limited(Mode::Direct).await;
}
