//! The stages of a stop: what is in flight is finished, acknowledgements are written, then farewell.

use super::bridge::{Bridge, Ended};
use crate::config::{FAREWELL, FINISHING};
use mqtt::Line;
use ops::shutdown::Shutdown;
use tokio::time::{Instant, sleep_until};

/// How far the stop has come.
#[derive(Debug, Default)]
pub(super) enum Stopping {
    /// Nobody asked for it.
    #[default]
    NotRequested,
    /// What is in flight may still become durable until then.
    Finishing(Instant),
    /// The farewell follows the acknowledgements; it is to be written until then.
    Leaving(Instant),
}

impl Stopping {
    /// Whether the stop was asked for.
    pub(super) fn begun(&self) -> bool {
        !matches!(self, Self::NotRequested)
    }

    /// Takes no more messages from now on.
    pub(super) fn begin(&mut self) {
        *self = Self::Finishing(Instant::now() + FINISHING);
    }

    /// Says farewell as soon as nothing is in flight; the session stays with the broker.
    ///
    /// A log that takes nothing any more is borne then: its other side has stopped first.
    pub(super) fn proceed(
        &mut self,
        step: Result<(), Ended>,
        bridge: &mut Bridge,
        line: &mut Line,
        shutdown: &Shutdown,
    ) -> Result<(), Ended> {
        match step {
            Ok(()) if matches!(self, Self::Finishing(_)) && bridge.is_empty() => {
                self.leave(line);
                Ok(())
            }
            Ok(()) if matches!(self, Self::Leaving(_)) && !line.has_unwritten() => {
                Err(Ended::Stopped)
            }
            Err(Ended::Fatal(_)) if shutdown.is_requested() => self.give_up(bridge, line),
            Ok(()) | Err(_) => step,
        }
    }

    /// Stops waiting for what takes too long.
    pub(super) fn give_up(&mut self, bridge: &mut Bridge, line: &mut Line) -> Result<(), Ended> {
        match self {
            Self::NotRequested => Ok(()),
            Self::Finishing(_) => {
                bridge.abandon();
                self.leave(line);
                Ok(())
            }
            Self::Leaving(_) => Err(Ended::Stopped),
        }
    }

    /// What the end of the connection means.
    pub(super) fn lost(&self, bridge: &mut Bridge, cause: String) -> Ended {
        if self.begun() {
            bridge.abandon();
            return Ended::Stopped;
        }
        Ended::Lost(cause)
    }

    /// Waits until the current stage has taken too long.
    pub(super) async fn overdue(&self) {
        match self {
            Self::NotRequested => std::future::pending().await,
            Self::Finishing(until) | Self::Leaving(until) => sleep_until(*until).await,
        }
    }

    fn leave(&mut self, line: &mut Line) {
        *self = Self::Leaving(Instant::now() + FAREWELL);
        line.disconnect();
    }
}
