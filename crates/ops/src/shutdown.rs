//! One wish to stop that everybody hears.

use std::io;
use std::time::Duration;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio_util::sync::CancellationToken;

/// How long a process that was told to stop may take to finish what is in flight (`operations.md`).
pub const GRACE: Duration = Duration::from_secs(10);

/// The wish that a process stops; clones share it, and it is never taken back.
#[derive(Clone, Debug, Default)]
pub struct Shutdown(CancellationToken);

impl Shutdown {
    /// A wish that nobody has uttered yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// A wish that SIGTERM and SIGINT utter; needs a tokio runtime, which from then on decides what
    /// the two signals do.
    #[must_use]
    pub fn on_signals() -> Self {
        let shutdown = Self::new();
        match signals() {
            Ok((terminate, interrupt)) => listen(shutdown.clone(), terminate, interrupt),
            // Without a handler a signal keeps its usual effect, so the process can still be stopped.
            Err(error) => {
                tracing::warn!(%error, "cannot listen for signals, they end the process at once");
            }
        }
        shutdown
    }

    /// Tells everybody to stop.
    pub fn trigger(&self) {
        self.0.cancel();
    }

    /// Waits until somebody wants the stop; at once when somebody did.
    pub async fn requested(&self) {
        self.0.cancelled().await;
    }

    /// Tells whether somebody wants the stop.
    #[must_use]
    pub fn is_requested(&self) -> bool {
        self.0.is_cancelled()
    }
}

fn signals() -> io::Result<(Signal, Signal)> {
    Ok((
        signal(SignalKind::terminate())?,
        signal(SignalKind::interrupt())?,
    ))
}

#[expect(
    clippy::disallowed_methods,
    reason = "it belongs to the process, not to a component: it holds nothing and ends with the runtime"
)]
fn listen(shutdown: Shutdown, mut terminate: Signal, mut interrupt: Signal) {
    tokio::spawn(async move {
        let name = tokio::select! {
            _ = terminate.recv() => "SIGTERM",
            _ = interrupt.recv() => "SIGINT",
        };
        tracing::info!(signal = name, "stopping");
        shutdown.trigger();
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn every_clone_hears_the_wish_to_stop() {
        let shutdown = Shutdown::new();
        let clone = shutdown.clone();
        assert!(!clone.is_requested());
        shutdown.trigger();
        clone.requested().await;
        assert!(clone.is_requested());
    }

    #[tokio::test]
    async fn a_signal_is_a_wish_to_stop_and_not_the_end() {
        let shutdown = Shutdown::on_signals();
        assert!(!shutdown.is_requested());
        let own = std::process::id().to_string();
        let sent = std::process::Command::new("kill")
            .args(["-TERM", &own])
            .status()
            .unwrap();
        assert!(sent.success());
        shutdown.requested().await;
    }
}
