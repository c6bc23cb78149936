//! Direct mode: the bridge's messages go to the aggregator's writer in the same process, and are
//! acknowledged after the database has committed.

use aggregator::batch::{Arrival, BATCH_BYTES, batch};
use aggregator::writer::{Unwritten, Writer};
use bridge::{Handover, Letter};
use ops::shutdown::Shutdown;
use std::time::{Duration, Instant};
use tokio::sync::mpsc::Receiver;

/// Largest batch, in messages; the receive maximum bounds it too.
const BATCH_MESSAGES: usize = 10_000;
/// Pause between two looks at a database that has nothing to do.
const DATABASE_PROBE: Duration = Duration::from_secs(2);

/// Stores what the bridge hands over until the bridge has ended. What cannot be stored before the
/// stop is not acknowledged, and the broker sends it again.
pub(crate) async fn run(mut handovers: Receiver<Handover>, writer: Writer, shutdown: Shutdown) {
    loop {
        let first = tokio::select! {
            first = handovers.recv() => first,
            () = tokio::time::sleep(DATABASE_PROBE) => {
                writer.probe().await;
                continue;
            }
        };
        let Some(first) = first else { return };
        let begun = Instant::now();
        let (arrivals, receipts): (Vec<Arrival>, Vec<_>) = hand(first, &mut handovers)
            .into_iter()
            .map(|it| (arrival(it.letter), it.receipt))
            .unzip();
        // Without positions none can be lost.
        match writer
            .write(&batch(arrivals, Vec::new()), begun, &shutdown)
            .await
        {
            Ok(()) => receipts.into_iter().for_each(bridge::Receipt::durable),
            Err(Unwritten::Stopped | Unwritten::LostPosition) => return,
        }
    }
}

/// The first message, and those that are there already, as far as a batch goes.
fn hand(first: Handover, handovers: &mut Receiver<Handover>) -> Vec<Handover> {
    let mut bytes = payload_bytes(&first);
    let mut hand = vec![first];
    while hand.len() < BATCH_MESSAGES
        && bytes < BATCH_BYTES
        && let Ok(next) = handovers.try_recv()
    {
        bytes += payload_bytes(&next);
        hand.push(next);
    }
    hand
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
