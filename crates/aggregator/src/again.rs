//! `--from`: what Kafka holds from a moment on is read again, besides what comes in now.

use crate::{Config, backlog, fetch};
use domain::time::Timestamp;
use ops::retry::Backoff;
use ops::shutdown::Shutdown;
use std::time::Duration;
use store::Store;

/// How long Kafka and the database may take; then connections count as dead, and others are asked.
const TIMEOUT: Duration = Duration::from_secs(60);

/// Has everything read again that Kafka took from `from` on; returns when that is written down, since reading it is
/// the backlog's work, of whichever process has the partition then.
pub(crate) async fn run(config: Config, store: Store, from: Timestamp, shutdown: Shutdown) {
    let mut backoff = Backoff::default();
    loop {
        let asked = tokio::select! {
            asked = read_again(&config, &store, from) => asked,
            () = store.given_up_after(TIMEOUT) => Err("no answer".to_owned()),
            () = shutdown.requested() => return,
        };
        match asked {
            Ok(messages) => {
                tracing::info!(messages, "reading the log again");
                return;
            }
            Err(cause) => tracing::debug!(cause, "the log cannot be read again yet"),
        }
        tokio::select! {
            () = tokio::time::sleep(backoff.next_wait()) => {}
            () = shutdown.requested() => return,
        }
    }
}

async fn read_again(config: &Config, store: &Store, from: Timestamp) -> Result<i64, String> {
    let looked = tokio::task::spawn_blocking({
        let config = config.clone();
        let millis = from.micros().div_euclid(1_000);
        move || backlog::offsets_at(&config, &fetch::topics(&config), millis)
    });
    let (cluster, positions) = looked.await.map_err(|error| error.to_string())??;
    let stretches = store.read_again(&cluster, &positions).await;
    let stretches = stretches.map_err(|failure| failure.to_string())?;
    Ok(stretches
        .iter()
        .map(|it| it.end_offset - it.next_offset)
        .sum())
}
