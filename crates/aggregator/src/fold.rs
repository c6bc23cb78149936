//! Folding marked minutes into buckets as they end, and again when late records mark them anew.

use crate::Handles;
use domain::time::Timestamp;
use ops::metrics::{Counter, Gauge};
use ops::retry::Backoff;
use ops::shutdown::Shutdown;
use std::pin::pin;
use std::time::{Duration, Instant};
use store::{FOLD_LIMIT, Folded, Store, StoreFailure};
use tokio::time::{interval, timeout};

/// Pause between two looks for marks. Reads do not wait for it: they fold what is marked themselves.
const FOLD_INTERVAL: Duration = Duration::from_millis(250);

/// How often it is told how long a look takes that takes long.
const TELL_INTERVAL: Duration = Duration::from_secs(1);

/// Longer than the database may take for the statements of a look: then the connection is dead.
const LOOK_TIMEOUT: Duration = Duration::from_secs(600);

/// How often what waits is counted.
const COUNT_INTERVAL: Duration = Duration::from_secs(5);

/// Folds until told to stop. Any number of processes may do so at once.
pub async fn run(store: &Store, handles: &Handles, shutdown: &Shutdown) {
    let mut backoff = Backoff::default();
    let folding = handles.health.condition("folding");
    let mut progress = Progress::new();
    while !shutdown.is_requested() {
        let now = Timestamp::from_micros(handles.clock.now_micros());
        progress.begin();
        let Some(folded) = fold(store, handles, &mut progress, now, shutdown).await else {
            return;
        };
        let wait = match folded {
            Ok(folded) => {
                folding.ready();
                backoff.reset();
                let set_aside = folded.set_aside as u64;
                handles
                    .metrics
                    .update(|it| it.add(Counter::AggregatorSetAsideIntervals, set_aside));
                let limit = usize::try_from(FOLD_LIMIT).unwrap_or(usize::MAX);
                let all = [folded.minutes, folded.quarters, folded.days];
                let more = all.into_iter().any(|taken| taken >= limit);
                progress.end(more);
                if more { Duration::ZERO } else { FOLD_INTERVAL }
            }
            Err(failure) => {
                folding.not_ready(store.tell(&failure));
                progress.end(true);
                backoff.next_wait()
            }
        };
        progress.tell(store, handles, now).await;
        tokio::select! {
            () = tokio::time::sleep(wait) => {}
            () = shutdown.requested() => {}
        }
    }
}

/// One look for marks; nothing when told to stop. While it takes long, how far it is behind is told all the same.
async fn fold(
    store: &Store,
    handles: &Handles,
    progress: &mut Progress,
    now: Timestamp,
    shutdown: &Shutdown,
) -> Option<Result<Folded, StoreFailure>> {
    // One that is given up has taken no mark.
    let mut folding = pin!(store.fold(now));
    let mut overdue = pin!(store.given_up_after(LOOK_TIMEOUT));
    let mut told = interval(TELL_INTERVAL);
    told.tick().await;
    loop {
        tokio::select! {
            folded = &mut folding => return Some(folded),
            _ = told.tick() => {
                progress.behind = true;
                progress.tell(store, handles, now).await;
            }
            () = &mut overdue => {
                let silent = "the database does not answer".to_owned();
                return Some(Err(StoreFailure::Transient(silent)));
            }
            () = shutdown.requested() => return None,
        }
    }
}

/// How far folding is behind.
struct Progress {
    /// When the present look for marks began.
    begun: Instant,
    /// When the last look began that left no mark.
    caught_up: Instant,
    /// Whether the last look left marks.
    behind: bool,
    counted: Option<Instant>,
}

impl Progress {
    fn new() -> Self {
        let now = Instant::now();
        Self {
            begun: now,
            caught_up: now,
            behind: false,
            counted: None,
        }
    }

    fn begin(&mut self) {
        self.begun = Instant::now();
    }

    fn end(&mut self, behind: bool) {
        self.behind = behind;
        if !behind {
            self.caught_up = self.begun;
        }
    }

    /// Tells how long some mark has waited at most, and now and then how many there are.
    async fn tell(&mut self, store: &Store, handles: &Handles, now: Timestamp) {
        let waited = if self.behind {
            self.caught_up.elapsed()
        } else {
            Duration::ZERO
        };
        let oldest = Gauge::AggregatorOldestMarkSeconds;
        let metrics = &handles.metrics;
        metrics.update(|update| update.set(oldest, waited.as_secs_f64()));
        if self.counted.is_some_and(|at| at.elapsed() < COUNT_INTERVAL) {
            return;
        }
        self.counted = Some(Instant::now());
        let counted = timeout(TELL_INTERVAL, store.waiting_marks(now)).await;
        // An outage is told by the fold itself.
        if let Ok(Ok(marks)) = counted {
            #[expect(clippy::cast_precision_loss, reason = "some hundred thousand at most")]
            metrics.update(|update| update.set(Gauge::AggregatorWaitingMarks, marks as f64));
        }
    }
}
