//! What happens by itself, and what controllers did.

use crate::config::{DATABASE_PATIENCE, Handles, SLOW_AFTER, TICK, WATCH_INTERVAL};
use crate::publisher::hung;
use domain::time::Timestamp;
use ops::metrics::{Counter, Gauge, Histogram};
use ops::retry::Backoff;
use ops::shutdown::Shutdown;
use std::time::Duration;
use store::{CONTROL_LIMIT, Store, StoreFailure};
use tokio::time::{Instant, sleep, timeout};
use uuid::Uuid;

/// Where a look at all telemetry stands.
struct Watch {
    /// The last building that was looked at in this round.
    after: Uuid,
    /// When the next round begins.
    next_round: Instant,
}

/// Executes what is due until `shutdown`.
pub(crate) async fn run(store: Store, handles: Handles, shutdown: Shutdown) {
    let condition = handles.health.condition("transitions");
    let mut backoff = Backoff::default();
    let mut watch = Watch {
        after: Uuid::nil(),
        next_round: Instant::now(),
    };
    while !shutdown.is_requested() {
        // One that is given up has changed nothing.
        let slow = async {
            sleep(SLOW_AFTER).await;
            let (server, seconds) = (store.server(), SLOW_AFTER.as_secs());
            condition.not_ready(format!("{server}: no answer for {seconds} s"));
            std::future::pending::<()>().await;
        };
        let looked = tokio::select! {
            () = slow => return,
            looked = timeout(DATABASE_PATIENCE, look(&store, &handles, &mut watch)) => {
                looked.unwrap_or_else(|_| Err(hung()))
            }
            () = shutdown.requested() => return,
        };
        let wait = match looked {
            Ok(more) => {
                condition.ready();
                backoff.reset();
                if more { Duration::ZERO } else { TICK }
            }
            Err(failure) => {
                condition.not_ready(store.tell(&failure));
                let retries = Counter::ControlRetries;
                handles.metrics.update(|it| it.add(retries, 1));
                backoff.next_wait()
            }
        };
        tokio::select! {
            () = sleep(wait) => {}
            () = shutdown.requested() => {}
        }
    }
}

/// One look; answers whether there is more to do at once. Reports come first: what a controller said before
/// something was over counts, also when both were found late.
async fn look(store: &Store, handles: &Handles, watch: &mut Watch) -> Result<bool, StoreFailure> {
    let reports = store.handle_reports(handles.now()).await?;
    let metrics = &handles.metrics;
    metrics.update(|it| it.add(Counter::ControlReports, count(reports)));
    let now = handles.now();
    let executed = store.execute_due(now).await?;
    metrics.update(|it| {
        it.add(Counter::ControlTransitions, count(executed.buildings));
        if let Some(first_due) = executed.first_due {
            let late = Duration::from_micros(now.micros_since(first_due).unsigned_abs());
            it.observe(Histogram::ControlLateSeconds, late.as_secs_f64());
        }
    });
    let unreadable = u32::try_from(store.unreadable_states()).unwrap_or(u32::MAX);
    metrics.update(|it| it.set(Gauge::ControlUnreadableStates, unreadable.into()));
    let watched = look_at_telemetry(store, handles.now(), watch).await?;
    let limit = usize::try_from(CONTROL_LIMIT).unwrap_or(usize::MAX);
    Ok(watched || reports >= limit || executed.buildings >= limit)
}

/// Answers whether the round goes on.
async fn look_at_telemetry(
    store: &Store,
    now: Timestamp,
    watch: &mut Watch,
) -> Result<bool, StoreFailure> {
    if Instant::now() < watch.next_round {
        return Ok(false);
    }
    let last = store.watch_telemetry(watch.after, now).await?;
    watch.after = last.unwrap_or(Uuid::nil());
    if last.is_none() {
        watch.next_round = Instant::now() + WATCH_INTERVAL;
    }
    Ok(last.is_some())
}

fn count(of: usize) -> u64 {
    u64::try_from(of).unwrap_or(u64::MAX)
}
