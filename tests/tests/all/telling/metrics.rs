//! Every figure that an alert or an operator needs moves when its cause is there, and goes back.

use crate::WATTLINE;
use crate::records::{meter, now};
use sqlx::{Connection as _, Executor as _, PgConnection};
use testkit::{DatabaseServer, Edition, KafkaServer, Mode, Running, World, eventually};

/// Waits until a series is as wanted.
async fn becomes(role: &Running, series: &str, wanted: impl Fn(f64) -> bool) {
    eventually(async || match role.metric(series).await {
        value if wanted(value) => Ok(()),
        other => Err(format!("{series} is {other}")),
    })
    .await;
}

async fn own_database(world: &mut World) -> DatabaseServer {
    let database = tokio::task::spawn_blocking(DatabaseServer::start)
        .await
        .unwrap();
    let url = database.url();
    world
        .settings
        .insert("WATTLINE_DATABASE_URL".to_owned(), url);
    world.command(&["migrate"]);
    database
}

#[tokio::test(flavor = "multi_thread")]
async fn ages_lengths_retries_and_conditions_move_with_their_cause_and_go_back() {
    let mut world = World::new(WATTLINE, Mode::Direct).await;
    let database = own_database(&mut world).await;
    let building = world.building();
    let serve = world.serve().await;
    becomes(
        &serve,
        "wattline_condition_ready{condition=\"database\"}",
        |it| it == 1.0,
    )
    .await;
    becomes(&serve, "wattline_control_outbox_documents", |it| it == 0.0).await;

    // The database is away: what comes in waits.
    database.control().freeze();
    let controller = world.controller();
    controller.telemetry(building, meter(now(), 5)).await;
    controller.confirmed().await;
    becomes(
        &serve,
        "wattline_bridge_oldest_unacknowledged_seconds",
        |it| it > 2.0,
    )
    .await;
    becomes(&serve, "wattline_bridge_in_flight_messages", |it| it == 1.0).await;
    becomes(
        &serve,
        "wattline_condition_ready{condition=\"database\"}",
        |it| it == 0.0,
    )
    .await;
    becomes(&serve, "wattline_ready", |it| it == 0.0).await;
    database.control().kill();
    becomes(&serve, "wattline_aggregator_retries_total", |it| it > 0.0).await;
    becomes(&serve, "wattline_control_retries_total", |it| it > 0.0).await;
    tokio::task::block_in_place(|| database.control().restart().unwrap());
    becomes(
        &serve,
        "wattline_bridge_oldest_unacknowledged_seconds",
        |it| it == 0.0,
    )
    .await;
    becomes(&serve, "wattline_aggregator_batch_messages_count", |it| {
        it >= 1.0
    })
    .await;
    becomes(&serve, "wattline_aggregator_batch_seconds_sum", |it| {
        it > 1.0
    })
    .await;
    serve.ready().await;

    // The broker is away: what is desired waits.
    world.mosquitto().kill();
    world.building();
    becomes(&serve, "wattline_control_outbox_documents", |it| it >= 1.0).await;
    becomes(&serve, "wattline_control_oldest_document_seconds", |it| {
        it > 2.0
    })
    .await;
    tokio::task::block_in_place(|| world.mosquitto().restart().unwrap());
    becomes(&serve, "wattline_control_outbox_documents", |it| it == 0.0).await;
    becomes(&serve, "wattline_control_oldest_document_seconds", |it| {
        it == 0.0
    })
    .await;

    // Somebody keeps the buckets: folding waits.
    let mut operator = PgConnection::connect(&database.url()).await.unwrap();
    operator
        .execute("begin; lock table minute_bucket in exclusive mode")
        .await
        .unwrap();
    let controller = world.controller();
    controller
        .telemetry(building, meter(now() - 3_600, 5))
        .await;
    controller.telemetry(building, "{").await;
    controller.confirmed().await;
    becomes(&serve, "wattline_aggregator_waiting_marks", |it| it >= 1.0).await;
    becomes(&serve, "wattline_aggregator_oldest_mark_seconds", |it| {
        it > 2.0
    })
    .await;
    operator.execute("rollback").await.unwrap();
    becomes(&serve, "wattline_aggregator_waiting_marks", |it| it == 0.0).await;
    becomes(&serve, "wattline_aggregator_oldest_mark_seconds", |it| {
        it == 0.0
    })
    .await;
    let refused = "wattline_bridge_dead_lettered_messages_total{reason=\"not_json\"}";
    becomes(&serve, refused, |it| it == 1.0).await;

    let begun = serve.metric("wattline_start_time_seconds").await;
    #[expect(clippy::cast_precision_loss, reason = "seconds of this century")]
    let age = now() as f64 - begun;
    assert!((0.0..600.0).contains(&age), "{age}");
    let version = format!(
        "wattline_build_info{{version=\"{}\"}}",
        env!("CARGO_PKG_VERSION")
    );
    assert_eq!(serve.metric(&version).await, 1.0);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_lag_is_told_in_messages_and_in_seconds_and_kafkas_retries_are_counted() {
    let kafka = tokio::task::spawn_blocking(KafkaServer::start)
        .await
        .unwrap();
    let mut world = World::with_kafka(WATTLINE, Some(&kafka), Edition::Plain).await;
    let database = own_database(&mut world).await;
    let building = world.building();
    let bridge = world.start(&["bridge"]);
    let aggregator = world.start(&["aggregator"]);
    bridge.ready().await;
    aggregator.ready().await;
    let controller = world.controller();
    controller.telemetry(building, meter(now() - 50, 5)).await;
    controller.confirmed().await;
    becomes(
        &aggregator,
        "wattline_aggregator_stored_messages_total",
        |it| it == 1.0,
    )
    .await;

    database.control().freeze();
    for second in 0..20 {
        controller
            .telemetry(building, meter(now() - second, 5))
            .await;
    }
    controller.confirmed().await;
    becomes(&aggregator, "wattline_aggregator_lag_messages", |it| {
        it == 20.0
    })
    .await;
    becomes(&aggregator, "wattline_aggregator_lag_seconds", |it| {
        it > 3.0
    })
    .await;
    database.control().thaw();
    becomes(&aggregator, "wattline_aggregator_lag_messages", |it| {
        it == 0.0
    })
    .await;
    becomes(&aggregator, "wattline_aggregator_lag_seconds", |it| {
        it == 0.0
    })
    .await;

    // What is on its way when Kafka dies is sent again.
    kafka.control().freeze();
    controller.telemetry(building, meter(now() - 100, 5)).await;
    controller.confirmed().await;
    becomes(
        &bridge,
        "wattline_bridge_oldest_unacknowledged_seconds",
        |it| it > 1.0,
    )
    .await;
    tokio::task::block_in_place(|| {
        kafka.control().kill();
        kafka.control().restart().unwrap();
    });
    becomes(&bridge, "wattline_bridge_producer_retries_total", |it| {
        it > 0.0
    })
    .await;
    becomes(
        &bridge,
        "wattline_bridge_oldest_unacknowledged_seconds",
        |it| it == 0.0,
    )
    .await;
}
