//! Whether the process can do its job now, and if not, why.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

/// The cause that a condition has until its owner first speaks.
const STARTING: &str = "starting";

/// The conditions under which a process can do its job; clones share them.
#[derive(Clone, Debug, Default)]
pub struct Health(Arc<Mutex<Vec<Entry>>>);

/// One condition, held by the component that keeps it up to date; clones speak for the same one.
#[derive(Clone, Debug)]
pub struct Condition {
    health: Health,
    index: usize,
}

/// What the process's health is at one moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// Whether every condition holds.
    pub ready: bool,
    /// The conditions that do not hold, with why, by name.
    pub causes: Vec<(String, String)>,
    /// The names of all conditions, each once, in the order in which they were made.
    pub names: Vec<String>,
}

#[derive(Debug)]
struct Entry {
    name: String,
    state: State,
}

#[derive(Debug)]
enum State {
    Starting,
    Ready,
    NotReady { cause: String, since: Instant },
}

impl Health {
    /// A health without conditions, which is good.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a condition that does not hold yet. Components may give theirs the same name (each its
    /// own connection to one server): the report then shows one, which holds when all of them do.
    #[must_use]
    pub fn condition(&self, name: impl Into<String>) -> Condition {
        let mut entries = self.entries();
        entries.push(Entry {
            name: name.into(),
            state: State::Starting,
        });
        Condition {
            health: self.clone(),
            index: entries.len() - 1,
        }
    }

    /// What holds now and what does not.
    #[must_use]
    pub fn report(&self) -> Report {
        let mut names: Vec<String> = Vec::new();
        let mut causes: Vec<(String, String)> = Vec::new();
        for entry in self.entries().iter() {
            if !names.contains(&entry.name) {
                names.push(entry.name.clone());
            }
            let told = causes.iter().any(|(name, _)| *name == entry.name);
            if let (Some(cause), false) = (entry.state.cause(), told) {
                causes.push((entry.name.clone(), cause.to_owned()));
            }
        }
        Report {
            ready: causes.is_empty(),
            causes,
            names,
        }
    }

    fn entries(&self) -> MutexGuard<'_, Vec<Entry>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Condition {
    /// Tells that the condition holds; logged when it did not before.
    pub fn ready(&self) {
        let mut entries = self.health.entries();
        let entry = &mut entries[self.index];
        match &entry.state {
            State::Ready => return,
            State::Starting => tracing::info!(condition = entry.name, "ready"),
            State::NotReady { since, .. } => tracing::info!(
                condition = entry.name,
                seconds = since.elapsed().as_secs_f64(),
                "ready again"
            ),
        }
        entry.state = State::Ready;
    }

    /// Tells that the condition does not hold, and why; a warning when an outage starts with it.
    pub fn not_ready(&self, cause: impl Into<String>) {
        let cause = cause.into();
        let mut entries = self.health.entries();
        let entry = &mut entries[self.index];
        let since = match &entry.state {
            // Causes may alternate during one outage: only its start is worth a warning.
            State::NotReady { since, .. } => *since,
            State::Starting | State::Ready => {
                tracing::warn!(condition = entry.name, cause, "not ready");
                Instant::now()
            }
        };
        entry.state = State::NotReady { cause, since };
    }
}

impl State {
    fn cause(&self) -> Option<&str> {
        match self {
            Self::Starting => Some(STARTING),
            Self::Ready => None,
            Self::NotReady { cause, .. } => Some(cause),
        }
    }
}

#[cfg(test)]
mod tests;
