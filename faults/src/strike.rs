//! Breaks one thing, waits, and mends it.

use crate::Outcome;
use crate::arena::{Arena, blocking, lock};
use crate::fault::{Fault, Role, Route};
use rdkafka::ClientConfig;
use rdkafka::admin::{AdminClient, AdminOptions, AlterConfig, ResourceSpecifier};
use rdkafka::client::DefaultClientContext;
use sqlx::{Connection as _, PgConnection};
use std::time::Duration;
use tokio::time::sleep;

/// Topics that refuse writes for a while.
const REFUSING: [&str; 3] = [
    "wattline.telemetry",
    "wattline.readings",
    "wattline.keyvalues",
];
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
        Fault::StepClock(role, hours) => {
            let process = arena.role(role).lock().await;
            process.step_clock(hours)?;
            sleep(lasts).await;
            process.step_clock(0)
        }
        Fault::KillKafka | Fault::FreezeKafka | Fault::RefuseWrites => {
            kafka(arena, fault, lasts).await
        }
        Fault::KillDatabase
        | Fault::FreezeDatabase
        | Fault::EndSessions
        | Fault::HangStatements
        | Fault::FillDisk => database(arena, fault, lasts).await,
        Fault::RestartBroker | Fault::FreezeBroker => broker(arena, fault, lasts).await,
        Fault::Cut(route) | Fault::Refuse(route) | Fault::Hold(route, _) | Fault::Slow(route) => {
            network(arena, fault, route, lasts).await;
            Ok(())
        }
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

async fn kafka(arena: &Arena, fault: Fault, lasts: Duration) -> Outcome<()> {
    let kafka = arena.kafka();
    if fault == Fault::RefuseWrites {
        want_replicas(arena, "2").await?;
        sleep(lasts).await;
        return want_replicas(arena, "1").await;
    }
    let dies = fault == Fault::KillKafka;
    blocking(move || {
        let mut kafka = lock(&kafka);
        if dies {
            kafka.kill();
        } else {
            kafka.freeze();
        }
        std::thread::sleep(lasts);
        if dies {
            kafka.restart()?;
        } else {
            kafka.thaw();
        }
        Ok(())
    })
    .await
}

/// With one broker and two replicas wanted in sync, a write that waits for all of them is refused.
async fn want_replicas(arena: &Arena, count: &str) -> Outcome<()> {
    let admin: AdminClient<DefaultClientContext> = ClientConfig::new()
        .set("bootstrap.servers", arena.kafka_brokers())
        .create()?;
    let options = AdminOptions::new().operation_timeout(Some(PATIENCE));
    let topics = REFUSING.iter().map(|topic| {
        let topic = ResourceSpecifier::Topic(topic);
        AlterConfig::new(topic).set("min.insync.replicas", count)
    });
    let topics: Vec<AlterConfig<'_>> = topics.collect();
    for altered in admin.alter_configs(&topics, &options).await? {
        altered.map_err(|(_, error)| format!("min.insync.replicas: {error}"))?;
    }
    Ok(())
}

async fn database(arena: &Arena, fault: Fault, lasts: Duration) -> Outcome<()> {
    let database = arena.database();
    match fault {
        Fault::EndSessions => {
            let mut connection = PgConnection::connect(&arena.database_url()).await?;
            let end = "select pg_terminate_backend(pid) from pg_stat_activity \
                       where pid <> pg_backend_pid() and application_name = 'wattline'";
            sqlx::query(end).execute(&mut connection).await?;
            return Ok(());
        }
        Fault::HangStatements => return hang_statements(arena, lasts).await,
        Fault::FillDisk => return fill_disk(arena, lasts).await,
        _ => {}
    }
    let dies = fault == Fault::KillDatabase;
    blocking(move || {
        let mut database = lock(&database);
        if dies {
            database.kill();
        } else {
            database.freeze();
        }
        std::thread::sleep(lasts);
        if dies {
            database.restart()?;
        } else {
            database.thaw();
        }
        Ok(())
    })
    .await
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
    let database = arena.database();
    blocking(move || Ok(lock(&database).restart()?)).await
}

async fn broker(arena: &Arena, fault: Fault, lasts: Duration) -> Outcome<()> {
    let broker = arena.broker();
    let restarts = fault == Fault::RestartBroker;
    blocking(move || {
        let mut broker = lock(&broker);
        if restarts {
            broker.stop();
        } else {
            broker.freeze();
        }
        std::thread::sleep(lasts);
        if restarts {
            broker.restart()?;
        } else {
            broker.thaw();
        }
        Ok(())
    })
    .await
}

async fn network(arena: &Arena, fault: Fault, route: Route, lasts: Duration) {
    let proxy = arena.route(route);
    match fault {
        Fault::Refuse(_) => proxy.refuse(),
        Fault::Hold(_, direction) => proxy.hold(direction),
        Fault::Slow(_) => proxy.slow(SLOW),
        _ => proxy.cut(),
    }
    sleep(lasts).await;
    proxy.release();
}
