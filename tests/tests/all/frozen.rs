//! A process that stands still in the middle of a transaction, and connections that are dead and do not say so.

use crate::WATTLINE;
use crate::records::{meter, now};
use embedded::{Edition, Postgres, PostgresOptions};
use sqlx::{Connection as _, PgConnection};
use std::time::{Duration, Instant};
use store::Store;
use testkit::{BuildingPlan, Mode, Proxy, World, eventually};

/// The group gives the partitions away after six seconds, and the database ends what the frozen one has begun after
/// ten; the rest is for a slow machine.
const SERVED_WITHIN: Duration = Duration::from_secs(25);

/// Whether a session of this database stands in a transaction that has locked positions of the log.
const HOLDS_POSITIONS: &str = "select count(*) from pg_stat_activity session \
    join pg_locks held on held.pid = session.pid and held.relation = 'log_position'::regclass \
    where session.datname = current_database() and session.state like 'idle in transaction%'";

#[tokio::test(flavor = "multi_thread")]
async fn an_aggregator_that_is_frozen_in_a_transaction_holds_nobody_up_for_long() {
    let world = World::new(WATTLINE, Mode::Kafka).await;
    let plans: Vec<BuildingPlan> = (0..24).map(|_| BuildingPlan::new()).collect();
    world.apply(&plans);
    let bridge = world.start(&["bridge"]);
    let frozen = world.start(&["aggregator"]);
    bridge.ready().await;
    frozen.ready().await;
    let controller = world.controller();
    let begin = now() - 10_000;
    let mut published = 0;
    let mut publish = async || {
        for plan in &plans {
            let payload = meter(begin + published, 5);
            controller.telemetry(plan.uuid, payload).await;
            published += 1;
        }
        published
    };
    // Until it is caught in the middle.
    let caught = Instant::now();
    loop {
        publish().await;
        frozen.signal("STOP");
        tokio::time::sleep(Duration::from_millis(30)).await;
        if world.count(HOLDS_POSITIONS).await > 0 {
            break;
        }
        frozen.signal("CONT");
        assert!(caught.elapsed() < Duration::from_secs(60), "never caught");
        tokio::time::sleep(Duration::from_millis(37)).await;
    }
    let begun = Instant::now();
    let _other = world.start(&["aggregator"]);
    let wanted = publish().await;
    let stored = "select count(*) from telemetry_record";
    eventually(async || match world.count(stored).await {
        count if count == wanted => Ok(()),
        count => Err((count, wanted)),
    })
    .await;
    let waited = begun.elapsed();
    frozen.signal("CONT");
    assert!(waited < SERVED_WITHIN, "{waited:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_connection_that_the_network_has_forgotten_is_replaced_by_another() {
    let folder = embedded::temporary_folder().unwrap();
    let port = embedded::free_port().unwrap();
    let mut options = PostgresOptions::new(folder.path().join("database"), Edition::Plain);
    options.tcp_port = Some(port);
    let server = tokio::task::spawn_blocking(move || Postgres::start(&options).unwrap());
    let server = server.await.unwrap();
    server.create_database("site").unwrap();
    let url = server.url("site");
    Store::open(&url, 1).unwrap().migrate().await.unwrap();
    let proxy = Proxy::open(port).await;
    let through = format!("postgres://postgres@127.0.0.1:{}/site", proxy.port());
    let statement_timeout = Duration::from_secs(1);
    let store = Store::open_with(&through, 1, statement_timeout).unwrap();
    store.ping().await.unwrap();
    // A statement that hangs, over the one connection that there is.
    let mut locks = PgConnection::connect(&url).await.unwrap();
    let mut lock = locks.begin().await.unwrap();
    sqlx::query("lock table building in access exclusive mode")
        .execute(&mut *lock)
        .await
        .unwrap();
    let hangs = async {
        tokio::select! {
            answer = store.ping() => panic!("{answer:?}"),
            () = store.given_up_after(Duration::from_millis(800)) => {}
        }
    };
    let forgets = async {
        tokio::time::sleep(Duration::from_millis(400)).await;
        proxy.forget();
    };
    tokio::join!(hangs, forgets);
    lock.rollback().await.unwrap();
    eventually(async || store.ping().await).await;
}
