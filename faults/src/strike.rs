//! Breaks one thing, waits, and mends it.

use crate::Outcome;
use crate::arena::{Arena, blocking, lock};
use crate::fault::{Fault, Role, Route};
use embedded::{Kafka, Mosquitto, Postgres};
use rdkafka::ClientConfig;
use rdkafka::admin::{AdminClient, AdminOptions, AlterConfig, ResourceSpecifier};
use rdkafka::client::DefaultClientContext;
use sqlx::{Connection as _, PgConnection};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use testkit::Proxy;
use tokio::time::sleep;

/// Topics that refuse writes for a while.
const REFUSING: [&str; 3] = [
    "wattline.telemetry",
    "wattline.readings",
    "wattline.keyvalues",
];
/// Smaller than any record with its headers, and Kafka's default.
const REFUSED_BYTES: &str = "64";
const TAKEN_BYTES: &str = "1048588";
/// How long a question to a server may take that is expected to answer.
const PATIENCE: Duration = Duration::from_secs(10);
/// How long each piece is held back on a slow way.
const SLOW: Duration = Duration::from_millis(60);
/// What a statement of the service may be made to wait for.
const LOCKED: [&str; 5] = [
    "telemetry_record",
    "touched_minute",
    "minute_bucket",
    "log_position",
    "building",
];

/// Breaks it for as long as it lasts; all is mended when this returns.
pub(crate) async fn strike(arena: &Arena, fault: Fault, lasts: Duration) -> Outcome<()> {
    match fault {
        Fault::Kill(role) => kill(arena, role, lasts).await,
        Fault::Freeze(role) => freeze(arena, role, lasts).await,
        Fault::Leave(role) => leave(arena, role, lasts).await,
        Fault::StepClock(role, hours) => step_clock(arena, role, hours, lasts).await,
        Fault::KillKafka => server(arena.kafka(), lasts, Kafka::kill, kafka_back).await,
        Fault::FreezeKafka => server(arena.kafka(), lasts, |it| it.freeze(), kafka_thawed).await,
        Fault::RefuseWrites => refuse_writes(arena, lasts).await,
        Fault::KillDatabase => server(arena.database(), lasts, Postgres::kill, database_back).await,
        Fault::FreezeDatabase => {
            server(arena.database(), lasts, |it| it.freeze(), database_thawed).await
        }
        Fault::EndSessions => end_sessions(arena).await,
        Fault::HangStatements => hang_statements(arena, lasts).await,
        Fault::FillDisk => fill_disk(arena, lasts).await,
        Fault::RestartBroker => server(arena.broker(), lasts, Mosquitto::stop, broker_back).await,
        Fault::FreezeBroker => server(arena.broker(), lasts, |it| it.freeze(), broker_thawed).await,
        Fault::Cut(route) => network(arena, route, lasts, Proxy::cut).await,
        Fault::Refuse(route) => network(arena, route, lasts, Proxy::refuse).await,
        Fault::Hold(route, direction) => {
            network(arena, route, lasts, |proxy| proxy.hold(direction)).await
        }
        Fault::Slow(route) => network(arena, route, lasts, |proxy| proxy.slow(SLOW)).await,
    }
}

async fn kill(arena: &Arena, role: Role, lasts: Duration) -> Outcome<()> {
    let mut process = arena.role(role).lock().await;
    tokio::task::block_in_place(|| process.kill());
    sleep(lasts).await;
    process.begin()
}

async fn freeze(arena: &Arena, role: Role, lasts: Duration) -> Outcome<()> {
    let process = arena.role(role).lock().await;
    process.signal("STOP");
    sleep(lasts).await;
    process.signal("CONT");
    Ok(())
}

async fn leave(arena: &Arena, role: Role, lasts: Duration) -> Outcome<()> {
    let mut process = arena.role(role).lock().await;
    tokio::task::block_in_place(|| process.leave())?;
    sleep(lasts).await;
    process.begin()
}

async fn step_clock(arena: &Arena, role: Role, hours: i64, lasts: Duration) -> Outcome<()> {
    let process = arena.role(role).lock().await;
    process.step_clock(hours)?;
    sleep(lasts).await;
    process.step_clock(0)
}

/// Breaks a server and mends it.
async fn server<S: Send + 'static>(
    server: Arc<Mutex<S>>,
    lasts: Duration,
    down: impl FnOnce(&mut S) + Send + 'static,
    up: impl FnOnce(&mut S) -> Outcome<()> + Send + 'static,
) -> Outcome<()> {
    blocking(move || {
        let mut server = lock(&server);
        down(&mut server);
        std::thread::sleep(lasts);
        up(&mut server)
    })
    .await
}

fn kafka_back(kafka: &mut Kafka) -> Outcome<()> {
    Ok(kafka.restart()?)
}

fn database_back(database: &mut Postgres) -> Outcome<()> {
    Ok(database.restart()?)
}

fn broker_back(broker: &mut Mosquitto) -> Outcome<()> {
    Ok(broker.restart()?)
}

fn kafka_thawed(kafka: &mut Kafka) -> Outcome<()> {
    kafka.thaw();
    Ok(())
}

fn database_thawed(database: &mut Postgres) -> Outcome<()> {
    database.thaw();
    Ok(())
}

fn broker_thawed(broker: &mut Mosquitto) -> Outcome<()> {
    broker.thaw();
    Ok(())
}

async fn refuse_writes(arena: &Arena, lasts: Duration) -> Outcome<()> {
    take_at_most(arena, REFUSED_BYTES).await?;
    sleep(lasts).await;
    take_at_most(arena, TAKEN_BYTES).await
}

/// Sets the largest message that the topics take. (More replicas than there are would refuse nothing: Kafka wants no more in
/// sync than a partition has.)
async fn take_at_most(arena: &Arena, bytes: &str) -> Outcome<()> {
    let admin: AdminClient<DefaultClientContext> = ClientConfig::new()
        .set("bootstrap.servers", arena.kafka_brokers())
        .create()?;
    let options = AdminOptions::new().operation_timeout(Some(PATIENCE));
    let topics = REFUSING.iter().map(|topic| {
        let topic = ResourceSpecifier::Topic(topic);
        AlterConfig::new(topic).set("max.message.bytes", bytes)
    });
    let topics: Vec<AlterConfig<'_>> = topics.collect();
    for altered in admin.alter_configs(&topics, &options).await? {
        altered.map_err(|(_, error)| format!("max.message.bytes: {error}"))?;
    }
    Ok(())
}

async fn end_sessions(arena: &Arena) -> Outcome<()> {
    let mut connection = PgConnection::connect(&arena.database_url()).await?;
    let end = "select pg_terminate_backend(pid) from pg_stat_activity \
               where pid <> pg_backend_pid() and application_name like 'wattline%'";
    sqlx::query(end).execute(&mut connection).await?;
    Ok(connection.close().await?)
}

async fn hang_statements(arena: &Arena, lasts: Duration) -> Outcome<()> {
    let mut connection = PgConnection::connect(&arena.database_url()).await?;
    let chosen = usize::try_from(lasts.as_millis())? % LOCKED.len();
    let lock = format!(
        "begin; set local lock_timeout = '3s'; lock table {} in access exclusive mode",
        LOCKED[chosen]
    );
    // Somebody may hold it longer than that, who was frozen in the middle of a transaction: nothing to do then.
    if sqlx::raw_sql(&lock).execute(&mut connection).await.is_ok() {
        sleep(lasts).await;
    }
    connection.close().await?;
    Ok(())
}

/// PostgreSQL may have ended by itself: a log that cannot be written ends it, and with no room it cannot come back.
async fn fill_disk(arena: &Arena, lasts: Duration) -> Outcome<()> {
    let Some(disk) = &arena.disk else {
        return Ok(());
    };
    disk.fill()?;
    sleep(lasts).await;
    disk.empty()?;
    let url = arena.database_url();
    let begun = tokio::time::Instant::now();
    while begun.elapsed() < PATIENCE {
        let asked = tokio::time::timeout(Duration::from_secs(1), PgConnection::connect(&url));
        if let Ok(Ok(connection)) = asked.await {
            return Ok(connection.close().await?);
        }
        sleep(Duration::from_millis(200)).await;
    }
    server(arena.database(), Duration::ZERO, |_| {}, database_back).await
}

async fn network(
    arena: &Arena,
    route: Route,
    lasts: Duration,
    break_it: impl FnOnce(&Proxy),
) -> Outcome<()> {
    let proxy = arena.route(route);
    break_it(proxy);
    sleep(lasts).await;
    proxy.release();
    Ok(())
}
