//! Reads stretches of the log besides what comes in now: what piled up in an outage, and what is to be read again.

mod reading;

use crate::Config;
use crate::batch::Arrival;
use crate::fetch::Assignment;
use ops::metrics::{Gauge, Metrics};
use ops::shutdown::Shutdown;
use reading::Reading;
pub(crate) use reading::offsets_at;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::{Duration, Instant};
use store::{Store, Stretch, StretchMove};
use tokio::runtime::Handle;
use tokio::sync::mpsc::Sender;
use tokio::sync::oneshot;

/// Pause between two looks for stretches.
const LOOK: Duration = Duration::from_secs(1);
/// How long the database may take to answer; then the connection counts as dead.
const DATABASE_TIMEOUT: Duration = Duration::from_secs(10);
/// A stop is noticed within this.
const NAP: Duration = Duration::from_millis(100);

/// A piece of one or more stretches, to be written.
pub(crate) struct Piece {
    pub(crate) arrivals: Vec<Arrival>,
    pub(crate) moves: Vec<StretchMove>,
    /// When its first message came.
    pub(crate) begun: Instant,
    /// Told whether it was; if not, reading starts over from where the database stands.
    pub(crate) written: oneshot::Sender<bool>,
}

/// What the reading thread works with.
pub(crate) struct Backlog {
    pub(crate) config: Config,
    pub(crate) store: Store,
    pub(crate) assignment: Arc<Assignment>,
    pub(crate) runtime: Handle,
    pub(crate) metrics: Metrics,
    pub(crate) shutdown: Shutdown,
}

impl Backlog {
    /// Reads until told to stop. A consumer is there only while there is something to read.
    pub(crate) fn run(&self, pieces: &Sender<Piece>) {
        while !self.shutdown.is_requested() {
            let epoch = self.assignment.epoch();
            let stretches = self.look();
            if stretches.is_empty() {
                self.rest();
                continue;
            }
            let read = Reading::begin(&self.config, stretches).and_then(|mut reading| {
                while !self.shutdown.is_requested() && self.assignment.epoch() == epoch {
                    let Some(piece) = reading.next_piece()? else {
                        break;
                    };
                    if !self.give(pieces, piece, &mut reading) {
                        break;
                    }
                }
                Ok(())
            });
            if let Err(cause) = read {
                tracing::debug!(cause, "a stretch of the log cannot be read yet");
                self.rest();
            }
        }
    }

    /// The first stretch of each partition of this process. While the database is away there is none.
    fn look(&self) -> Vec<Stretch> {
        let partitions = self.assignment.partitions();
        let partitions: Vec<_> = partitions.into_iter().map(|(key, _)| key).collect();
        let cluster = self.assignment.cluster();
        let asked = self.store.stretches(&cluster, &partitions);
        let stretches = self.runtime.block_on(async {
            tokio::select! {
                stretches = asked => stretches.unwrap_or_default(),
                () = self.store.given_up_after(DATABASE_TIMEOUT) => Vec::new(),
                () = self.shutdown.requested() => Vec::new(),
            }
        });
        let left = stretches
            .iter()
            .map(|it| it.end_offset - it.next_offset)
            .sum();
        self.show(left);
        let mut seen = BTreeSet::new();
        let first = |it: &Stretch| seen.insert((it.topic.clone(), it.partition));
        stretches.into_iter().filter(first).collect()
    }

    fn show(&self, left: i64) {
        self.assignment.note_backlog(left);
        #[expect(clippy::cast_precision_loss, reason = "a gauge is a float")]
        let left = left as f64;
        self.metrics
            .update(|update| update.set(Gauge::AggregatorStretchMessages, left));
    }

    /// Hands a piece over and waits until it is written; answers whether reading may go on behind it.
    fn give(&self, pieces: &Sender<Piece>, read: reading::Read, reading: &mut Reading) -> bool {
        let (written, answer) = oneshot::channel();
        let moved: i64 = read
            .moves
            .iter()
            .map(|it| it.to_offset - it.stretch.next_offset)
            .sum();
        let moves = read.moves.clone();
        let piece = Piece {
            arrivals: read.arrivals,
            moves: read.moves,
            begun: read.begun,
            written,
        };
        if pieces.blocking_send(piece).is_err() {
            return false;
        }
        let is_written = answer.blocking_recv().unwrap_or(false);
        if is_written {
            self.show(self.assignment.backlog() - moved);
            reading.note_written(&moves);
        }
        is_written
    }

    fn rest(&self) {
        let begun = Instant::now();
        while begun.elapsed() < LOOK && !self.shutdown.is_requested() {
            std::thread::sleep(NAP);
        }
    }
}
