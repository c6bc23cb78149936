//! Direct mode: the bridge's messages go to the aggregator's writer in the same process, and are
//! acknowledged after the database has committed.

use aggregator::batch::{Arrival, BATCH_BYTES, batch};
use aggregator::writer::{Unwritten, Writer};
use bridge::{Handover, Letter, Receipt};
use ops::retry::Backoff;
use ops::shutdown::Shutdown;
use std::time::{Duration, Instant};
use store::Batch;
use tokio::sync::mpsc::Receiver;

/// Largest batch, in messages; the receive maximum bounds it too.
const BATCH_MESSAGES: usize = 10_000;
/// Pause between two looks at a database that has nothing to do.
const DATABASE_PROBE: Duration = Duration::from_secs(2);

/// Stores what the bridge hands over until the bridge has ended. What cannot be stored before the
/// stop is not acknowledged, and the broker sends it again.
pub(crate) async fn run(mut handovers: Receiver<Handover>, writer: Writer, shutdown: Shutdown) {
    let mut hand: Option<Hand> = None;
    let mut backoff = Backoff::default();
    loop {
        let patience = match &hand {
            Some(_) => backoff.next_wait(),
            None => DATABASE_PROBE,
        };
        // What is refused alone waits for company.
        tokio::select! {
            first = handovers.recv() => match first {
                Some(first) => Hand::take(&mut hand, first, &mut handovers),
                None => return,
            },
            () = tokio::time::sleep(patience) => {}
        }
        let Some(held) = hand.take() else {
            writer.probe().await;
            continue;
        };
        // Without positions none can be lost.
        match writer.write(&held.batch, held.begun, &shutdown).await {
            Ok(()) => {
                backoff.reset();
                held.receipts.into_iter().for_each(bridge::Receipt::durable);
            }
            Err(Unwritten::Refused) => hand = Some(held),
            Err(Unwritten::Stopped | Unwritten::LostPosition) => return,
        }
    }
}

/// What is to be stored, and what the bridge is owed for it.
struct Hand {
    batch: Batch,
    receipts: Vec<Receipt>,
    begun: Instant,
}

impl Hand {
    /// Takes the first message, and those that are there already, behind what is in hand.
    fn take(hand: &mut Option<Self>, first: Handover, handovers: &mut Receiver<Handover>) {
        let begun = Instant::now();
        let all = all(first, handovers).into_iter();
        let (arrivals, receipts): (Vec<Arrival>, Vec<Receipt>) =
            all.map(|it| (arrival(it.letter), it.receipt)).unzip();
        let batch = batch(arrivals, Vec::new());
        match hand {
            Some(hand) => {
                hand.batch.append(batch);
                hand.receipts.extend(receipts);
            }
            None => {
                *hand = Some(Self {
                    batch,
                    receipts,
                    begun,
                });
            }
        }
    }
}

/// The first message, and those that are there already, as far as a batch goes.
fn all(first: Handover, handovers: &mut Receiver<Handover>) -> Vec<Handover> {
    let mut bytes = payload_bytes(&first);
    let mut all = vec![first];
    while all.len() < BATCH_MESSAGES
        && bytes < BATCH_BYTES
        && let Ok(next) = handovers.try_recv()
    {
        bytes += payload_bytes(&next);
        all.push(next);
    }
    all
}

fn payload_bytes(handover: &Handover) -> usize {
    match &handover.letter {
        Letter::Record(message) => message.payload.len(),
        Letter::Dead(dead) => dead.message.payload.len(),
    }
}

fn arrival(letter: Letter) -> Arrival {
    match letter {
        Letter::Record(message) => Arrival::Record(message),
        Letter::Dead(dead) => Arrival::Dead(dead),
    }
}
