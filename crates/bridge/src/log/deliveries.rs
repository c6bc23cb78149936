//! Reports about what was handed over, from whatever thread, to the bridge's loop.

use crate::ledger::Ticket;
use std::sync::{Mutex, MutexGuard, PoisonError};
use tokio::sync::Notify;

/// What became of one message that was handed over.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Report {
    pub(crate) ticket: Ticket,
    pub(crate) outcome: Outcome,
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// It survives whatever happens to this process.
    Durable,
    /// It came back untouched and is to be handed over again.
    Returned,
    /// It came back with a cause, and is to be handed over again after a wait.
    Failed(String),
}

/// The reports that the loop has not read yet: as many as messages are in flight, at most.
#[derive(Debug, Default)]
pub(crate) struct Deliveries {
    reports: Mutex<Vec<Report>>,
    arrived: Notify,
}

impl Deliveries {
    /// Adds a report and wakes the loop, once for all reports until it reads them.
    pub(crate) fn report(&self, ticket: Ticket, outcome: Outcome) {
        let mut reports = self.reports();
        let first = reports.is_empty();
        reports.push(Report { ticket, outcome });
        drop(reports);
        if first {
            self.arrived.notify_one();
        }
    }

    /// Wakes the loop without a report, to make it look at the log's state.
    pub(crate) fn wake(&self) {
        self.arrived.notify_one();
    }

    /// Waits until there is something to read.
    pub(crate) async fn arrived(&self) {
        self.arrived.notified().await;
    }

    /// Takes all reports, in the order in which they came.
    pub(crate) fn take(&self) -> Vec<Report> {
        std::mem::take(&mut self.reports())
    }

    fn reports(&self) -> MutexGuard<'_, Vec<Report>> {
        self.reports.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
