//! What is written next: what came in now, and whenever nothing is there, what is read besides.

use crate::backlog::Piece;
use crate::batch::{BATCH_BYTES, batch};
use crate::fetch::{Assignment, BATCH_MESSAGES, Fetched};
use crate::probe::LEAP_MESSAGES;
use crate::writer::{Unwritten, Writer};
use ops::retry::Backoff;
use ops::shutdown::Shutdown;
use std::collections::HashMap;
use std::time::{Duration, Instant};
use store::{Batch, Move, Store, StoreFailure};
use tokio::sync::{mpsc, oneshot};

/// Pause between two looks at a database that has nothing to do.
const DATABASE_PROBE: Duration = Duration::from_secs(2);

/// How long the database may take to move positions; then the connection counts as dead.
const LEAP_TIMEOUT: Duration = Duration::from_secs(10);

/// The loop that writes; one at a time, so that what it knows of the positions is true.
pub(crate) struct Writing<'a> {
    pub(crate) writer: &'a Writer,
    pub(crate) store: &'a Store,
    pub(crate) assignment: &'a Assignment,
    pub(crate) shutdown: &'a Shutdown,
}

/// What is to be written.
struct Hand {
    batch: Batch,
    epoch: u64,
    begun: Instant,
}

impl Writing<'_> {
    /// Ends when the fetching thread has ended and all that it gave is written.
    pub(crate) async fn run(
        &self,
        mut batches: mpsc::Receiver<Fetched>,
        mut pieces: mpsc::Receiver<Piece>,
    ) {
        let mut lost_epoch = None;
        let mut hand: Option<Hand> = None;
        let mut backoff = Backoff::default();
        loop {
            if self.leap().await {
                lost_epoch = Some(self.assignment.epoch());
                self.assignment.ask_for_reassignment();
            }
            let patience = match &hand {
                Some(_) => backoff.next_wait(),
                None => DATABASE_PROBE,
            };
            // What is refused alone waits for company; enough of it, and nothing more would show.
            let is_full = hand.as_ref().is_some_and(Hand::is_full);
            tokio::select! {
                // What is new goes first.
                biased;
                () = self.shutdown.requested(), if is_full => return,
                fetched = batches.recv(), if !is_full => match fetched {
                    Some(fetched) => Hand::take(&mut hand, fetched, self.assignment),
                    None => return,
                },
                Some(piece) = pieces.recv(), if hand.is_none() => {
                    hand = self.write_piece(piece).await;
                    continue;
                }
                () = tokio::time::sleep(patience) => {}
            }
            let Some(held) = hand.take_if(|it| Some(it.epoch) != lost_epoch) else {
                hand = None;
                self.writer.probe().await;
                continue;
            };
            match self
                .writer
                .write(&held.batch, held.begun, self.shutdown)
                .await
            {
                Ok(()) => {
                    backoff.reset();
                    for moved in held.batch.moves {
                        let partition = (moved.topic, moved.partition);
                        self.assignment.note_committed(partition, moved.to_offset);
                    }
                }
                Err(Unwritten::Refused) => hand = Some(held),
                Err(Unwritten::LostPosition) => {
                    tracing::info!("a partition was read by another process too: starting over");
                    lost_epoch = Some(held.epoch);
                    self.assignment.ask_for_reassignment();
                }
                Err(Unwritten::Stopped) => return,
            }
        }
    }

    /// Writes what was read besides. What is refused alone is left in hand, where it gets company.
    async fn write_piece(&self, piece: Piece) -> Option<Hand> {
        let mut batch = batch(piece.arrivals, Vec::new());
        batch.cluster = self.assignment.cluster();
        batch.stretches = piece.moves;
        let written = self.writer.write(&batch, piece.begun, self.shutdown).await;
        tell(piece.written, written.is_ok());
        (written == Err(Unwritten::Refused)).then(|| Hand {
            batch,
            epoch: self.assignment.epoch(),
            begun: piece.begun,
        })
    }

    /// Moves positions that lie far behind to where the log ended when that was seen; answers whether any moved.
    async fn leap(&self) -> bool {
        let wanted = self.assignment.take_leaps();
        if wanted.is_empty() {
            return false;
        }
        let cluster = self.assignment.cluster();
        // One that is given up has either taken effect or not, and the positions know.
        let leapt = tokio::select! {
            leapt = self.leap_to(&cluster, wanted) => leapt,
            () = self.store.given_up_after(LEAP_TIMEOUT) => return false,
            () = self.shutdown.requested() => return false,
        };
        match leapt {
            Ok(messages) => {
                if messages > 0 {
                    tracing::info!(messages, "what piled up is read besides what comes in now");
                }
                messages > 0
            }
            // It is asked for again.
            Err(failure) => {
                tracing::debug!(%failure, "what piled up is still read first");
                false
            }
        }
    }

    async fn leap_to(
        &self,
        cluster: &str,
        wanted: HashMap<(String, i32), i64>,
    ) -> Result<i64, StoreFailure> {
        let partitions: Vec<_> = wanted.keys().cloned().collect();
        let positions = self.store.positions(cluster, &partitions).await?;
        let leaps = positions.into_iter().filter_map(|it| {
            let to_offset = *wanted.get(&(it.topic.clone(), it.partition))?;
            (to_offset - it.next_offset >= LEAP_MESSAGES).then_some(Move {
                topic: it.topic,
                partition: it.partition,
                from_offset: it.next_offset,
                to_offset,
            })
        });
        let leaps: Vec<Move> = leaps.collect();
        self.store.leap(cluster, &leaps).await?;
        Ok(leaps.iter().map(|it| it.to_offset - it.from_offset).sum())
    }
}

/// Whoever read it may have ended.
fn tell(written: oneshot::Sender<bool>, is_written: bool) {
    written.send(is_written).ok();
}

impl Hand {
    /// Takes what was fetched behind what is in hand. What was read under an older assignment is worthless.
    fn take(hand: &mut Option<Self>, fetched: Fetched, assignment: &Assignment) {
        let epoch = assignment.epoch();
        hand.take_if(|it| it.epoch != epoch);
        if fetched.epoch != epoch {
            return;
        }
        let mut batch = batch(fetched.arrivals, fetched.moves);
        batch.cluster = assignment.cluster();
        match hand {
            Some(hand) => hand.batch.append(batch),
            None => {
                *hand = Some(Self {
                    batch,
                    epoch,
                    begun: fetched.begun,
                });
            }
        }
    }

    /// A batch that is as large as one may be still gets one more for company: all of it may be of one building.
    fn is_full(&self) -> bool {
        let (messages, bytes) = self.batch.size();
        messages > BATCH_MESSAGES || bytes > 2 * BATCH_BYTES
    }
}
