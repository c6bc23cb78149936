//! Direct mode: the bridge's messages go to the aggregator's writer in the same process, and are
//! acknowledged after the database has committed.

use aggregator::batch::{Arrival, batch};
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
    let mut hand = Vec::new();
    loop {
        let taken = tokio::select! {
            taken = handovers.recv_many(&mut hand, BATCH_MESSAGES) => taken,
            () = tokio::time::sleep(DATABASE_PROBE) => {
                writer.probe().await;
                continue;
            }
        };
        if taken == 0 {
            return;
        }
        let begun = Instant::now();
        let (arrivals, receipts): (Vec<Arrival>, Vec<_>) = hand
            .drain(..)
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

fn arrival(letter: Letter) -> Arrival {
    match letter {
        Letter::Record(message) => Arrival::Record(message),
        Letter::Dead(dead) => Arrival::Dead(dead),
    }
}
