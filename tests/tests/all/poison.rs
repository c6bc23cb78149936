//! A message that the database does not take stops nobody, and nobody else is taken for it.

#[path = "poison/folding.rs"]
mod folding;
#[path = "poison/foreign.rs"]
mod foreign;

use crate::WATTLINE;
use crate::records::{meter, now};
use serde_json::Value;
use std::collections::BTreeSet;
use std::time::{Duration, Instant};
use testkit::{Mode, Running, World, eventually, eventually_within};

/// What the test's own constraint refuses, watt.
const POISON: i32 = 13;

async fn execute(world: &World, statement: &str) {
    sqlx::raw_sql(statement)
        .execute(&world.database)
        .await
        .unwrap();
}

async fn refuse_poison(world: &World) {
    let statement = format!(
        "alter table telemetry_record add constraint no_poison \
         check (main_meter_active_power_w <> {POISON})"
    );
    execute(world, &statement).await;
}

fn letters(world: &World) -> Vec<Value> {
    world
        .command(&["dead-letters", "list", "--format", "json"])
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

async fn until_stored(world: &World, expected: i64, patience: Duration) {
    eventually_within(patience, async || {
        match world.count("select count(*) from telemetry_record").await {
            count if count == expected => Ok(()),
            other => Err((other, expected)),
        }
    })
    .await;
}

/// Every message of the log is behind the positions, and none is read again.
async fn assert_positions(world: &World, mut serve: Running, messages: i64) {
    let behind = "select coalesce(sum(next_offset), 0)::bigint from log_position";
    assert_eq!(world.count(behind).await, messages);
    serve.stop();
    let serve = world.serve().await;
    let controller = world.controller();
    let building = world.building();
    let stored = world.count("select count(*) from telemetry_record").await;
    controller.telemetry(building, meter(now() - 5, 1)).await;
    until_stored(world, stored + 1, Duration::from_secs(30)).await;
    let consumed = "wattline_aggregator_consumed_messages_total";
    assert_eq!(serve.metric(consumed).await, 1.0);
}

async fn a_burst_with_poison_in_it_is_stored_around_it(mode: Mode) {
    const MESSAGES: i64 = 1_000;
    let world = World::new(WATTLINE, mode).await;
    let building = world.building();
    refuse_poison(&world).await;
    let serve = world.serve().await;
    let controller = world.controller();
    let begin = now() - 10_000;
    let is_poison = |second: i64| second % 250 == 17 || (500..530).contains(&second);
    let poison: BTreeSet<i64> = (0..MESSAGES).filter(|it| is_poison(*it)).collect();
    for second in 0..MESSAGES {
        let power_w = if poison.contains(&second) { POISON } else { 5 };
        controller
            .telemetry(building, meter(begin + second, power_w))
            .await;
    }
    controller.confirmed().await;
    let refused = i64::try_from(poison.len()).unwrap();
    until_stored(&world, MESSAGES - refused, Duration::from_secs(30)).await;
    let letters = eventually(async || match letters(&world) {
        letters if letters.len() == poison.len() => Ok(letters),
        other => Err(other.len()),
    })
    .await;
    for letter in &letters {
        assert_eq!(letter["reason"], "not_storable");
        let detail = letter["detail"].as_str().unwrap();
        assert!(
            detail.contains("no_poison") && detail.contains("23514"),
            "{detail}"
        );
    }
    let scrape = serve.metrics().await;
    let of = |name: &str| scrape[&format!("wattline_aggregator_{name}")];
    #[expect(clippy::cast_precision_loss, reason = "some hundred messages")]
    let (all, refused) = (MESSAGES as f64, refused as f64);
    assert_eq!(of("consumed_messages_total"), all);
    assert_eq!(of("stored_messages_total"), all - refused);
    assert_eq!(
        of("dead_lettered_messages_total{reason=\"not_storable\"}"),
        refused
    );
    assert_eq!(serve.readiness().await.unwrap().0, 200);
    let told = serve.log().matches("does not take single messages").count();
    assert_eq!(told, 1, "not a line for each");

    // The cause is gone, and they are replayed.
    execute(
        &world,
        "alter table telemetry_record drop constraint no_poison",
    )
    .await;
    world.command(&["dead-letters", "replay", "--reason", "not_storable"]);
    until_stored(&world, MESSAGES, Duration::from_secs(1)).await;
    if mode == Mode::Kafka {
        assert_positions(&world, serve, MESSAGES).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn poison_becomes_a_letter_and_what_is_behind_it_is_stored() {
    a_burst_with_poison_in_it_is_stored_around_it(Mode::Kafka).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn poison_becomes_a_letter_in_direct_mode_too() {
    a_burst_with_poison_in_it_is_stored_around_it(Mode::Direct).await;
}

async fn poison_alone_waits_for_one_other_message(mode: Mode) {
    let world = World::new(WATTLINE, mode).await;
    let building = world.building();
    refuse_poison(&world).await;
    let serve = world.serve().await;
    let controller = world.controller();
    let begin = now() - 10_000;
    controller.telemetry(building, meter(begin, POISON)).await;
    eventually(async || match serve.readiness().await {
        Ok((503, body)) if body.to_string().contains("no_poison") => Ok(()),
        other => Err(other),
    })
    .await;
    assert_eq!(letters(&world).len(), 0, "nothing shows whose fault it is");

    let sent_at = Instant::now();
    controller.telemetry(building, meter(begin + 1, 5)).await;
    until_stored(&world, 1, Duration::from_secs(20)).await;
    println_delay(sent_at);
    assert_eq!(letters(&world).len(), 1);
    eventually(async || match serve.readiness().await {
        Ok((200, _)) => Ok(()),
        other => Err(other),
    })
    .await;
    if mode == Mode::Kafka {
        assert_positions(&world, serve, 2).await;
    }
}

#[expect(
    clippy::print_stdout,
    reason = "a measured figure, shown with --nocapture"
)]
fn println_delay(sent_at: Instant) {
    println!("behind poison: readable after {:?}", sent_at.elapsed());
}

#[tokio::test(flavor = "multi_thread")]
async fn poison_alone_holds_up_the_next_message_for_a_moment_only() {
    poison_alone_waits_for_one_other_message(Mode::Kafka).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn poison_alone_holds_up_the_next_message_for_a_moment_only_in_direct_mode() {
    poison_alone_waits_for_one_other_message(Mode::Direct).await;
}

async fn what_was_refused_shows_too_that_the_database_takes_something(mode: Mode) {
    let world = World::new(WATTLINE, mode).await;
    let building = world.building();
    refuse_poison(&world).await;
    let serve = world.serve().await;
    let controller = world.controller();
    controller
        .telemetry(building, meter(now() - 10_000, POISON))
        .await;
    eventually(async || match serve.readiness().await {
        Ok((503, body)) if body.to_string().contains("no_poison") => Ok(()),
        other => Err(other),
    })
    .await;
    controller.telemetry(building, "{").await;
    eventually(async || {
        let reasons: BTreeSet<String> = letters(&world)
            .iter()
            .map(|letter| letter["reason"].as_str().unwrap().to_owned())
            .collect();
        if reasons == BTreeSet::from(["not_json".to_owned(), "not_storable".to_owned()]) {
            Ok(())
        } else {
            Err(reasons)
        }
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn poison_waits_no_longer_where_everything_else_is_refused() {
    what_was_refused_shows_too_that_the_database_takes_something(Mode::Kafka).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn poison_waits_no_longer_where_everything_else_is_refused_in_direct_mode() {
    what_was_refused_shows_too_that_the_database_takes_something(Mode::Direct).await;
}

/// Statements that make the database refuse every record of the kind, and how that is undone.
const BROKEN: [(&str, &str, &str); 3] = [
    (
        "every value",
        "alter table telemetry_record add constraint none check (false) not valid",
        "alter table telemetry_record drop constraint none",
    ),
    (
        "no permission",
        "create function refuse() returns trigger language plpgsql as $$ begin \
         raise exception 'permission denied' using errcode = '42501'; end $$; \
         create trigger refuse before insert on telemetry_record for each row execute function refuse()",
        "drop function refuse cascade",
    ),
    (
        "a column that is missing here",
        "alter table telemetry_record add column newer integer; \
         alter table telemetry_record add constraint newer check (newer is not null) not valid",
        "alter table telemetry_record drop column newer",
    ),
];

async fn a_database_that_takes_nothing_is_waited_for(mode: Mode) {
    const MESSAGES: i64 = 200;
    let world = World::new(WATTLINE, mode).await;
    let building = world.building();
    let serve = world.serve().await;
    let controller = world.controller();
    let mut begin = now() - 100_000;
    let mut expected = 0;
    for (name, broken, mended) in BROKEN {
        execute(&world, broken).await;
        for second in 0..MESSAGES {
            controller
                .telemetry(building, meter(begin + second, 5))
                .await;
        }
        begin += MESSAGES;
        let retries = "wattline_aggregator_retries_total";
        let before = serve.metric(retries).await;
        eventually(async || match serve.metric(retries).await {
            count if count >= before + 4.0 => Ok(()),
            other => Err(other),
        })
        .await;
        assert_eq!(serve.readiness().await.unwrap().0, 503, "{name}");
        assert_eq!(
            letters(&world).len(),
            0,
            "{name}: good messages are no dead letters"
        );
        execute(&world, mended).await;
        expected += MESSAGES;
        until_stored(&world, expected, Duration::from_secs(30)).await;
    }
    assert_eq!(world.count("select count(*) from dead_letter").await, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn good_messages_are_no_letters_when_the_database_takes_nothing() {
    a_database_that_takes_nothing_is_waited_for(Mode::Kafka).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn good_messages_are_no_letters_when_the_database_takes_nothing_in_direct_mode() {
    a_database_that_takes_nothing_is_waited_for(Mode::Direct).await;
}
