//! Whether the process can do its job now, and if not, why.

mod told;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;
use told::{Line, Told};

/// The cause that a condition has until its owner first speaks.
const STARTING: &str = "starting";

/// The conditions under which a process can do its job; clones share them.
#[derive(Clone, Debug, Default)]
pub struct Health(Arc<Mutex<Inner>>);

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
    pub names: Vec<&'static str>,
}

#[derive(Debug, Default)]
struct Inner {
    entries: Vec<Entry>,
    /// By name.
    told: BTreeMap<&'static str, Told>,
}

#[derive(Debug)]
struct Entry {
    name: &'static str,
    state: State,
}

#[derive(Debug, PartialEq, Eq)]
enum State {
    Starting,
    Ready,
    NotReady { cause: String },
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
    pub fn condition(&self, name: &'static str) -> Condition {
        let mut inner = self.inner();
        inner.told.entry(name).or_default();
        inner.entries.push(Entry {
            name,
            state: State::Starting,
        });
        Condition {
            health: self.clone(),
            index: inner.entries.len() - 1,
        }
    }

    /// What holds now and what does not.
    #[must_use]
    pub fn report(&self) -> Report {
        let inner = self.inner();
        let mut names = Vec::new();
        let mut causes = Vec::new();
        for entry in &inner.entries {
            if names.contains(&entry.name) {
                continue;
            }
            names.push(entry.name);
            if let Some(cause) = inner.cause(entry.name) {
                causes.push((entry.name.to_owned(), cause.to_owned()));
            }
        }
        Report {
            ready: causes.is_empty(),
            causes,
            names,
        }
    }

    /// Tells the log how conditions stand that came and went so often that it was not told of every change. To be
    /// called now and then.
    pub fn catch_up_log(&self) {
        let mut inner = self.inner();
        let names: Vec<&'static str> = inner.told.keys().copied().collect();
        for name in names {
            inner.tell(name, Instant::now());
        }
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Condition {
    /// Tells that the condition holds; logged when it did not before.
    pub fn ready(&self) {
        self.become_state(State::Ready);
    }

    /// Tells that the condition does not hold, and why; a warning when an outage starts with it.
    pub fn not_ready(&self, cause: impl Into<String>) {
        let cause = cause.into();
        self.become_state(State::NotReady { cause });
    }

    fn become_state(&self, state: State) {
        let mut inner = self.health.inner();
        let name = inner.entries[self.index].name;
        let before = inner.holds(name);
        inner.entries[self.index].state = state;
        // Causes may alternate during one outage: only its start is worth a warning.
        let told = inner.tell(name, Instant::now());
        if !told
            && before != inner.holds(name)
            && let Some(told) = inner.told.get_mut(name)
        {
            told.left_out();
        }
    }
}

impl Inner {
    /// Whether all conditions of this name hold; `None` while one has not spoken and none is broken.
    fn holds(&self, name: &str) -> Option<bool> {
        let mut holds = Some(true);
        for entry in self.entries.iter().filter(|entry| entry.name == name) {
            match entry.state {
                State::NotReady { .. } => return Some(false),
                State::Starting => holds = None,
                State::Ready => {}
            }
        }
        holds
    }

    /// Why a condition of this name does not hold: what is known goes before what has only not begun.
    fn cause(&self, name: &str) -> Option<&str> {
        let mut starting = None;
        for entry in self.entries.iter().filter(|entry| entry.name == name) {
            match &entry.state {
                State::NotReady { cause } => return Some(cause),
                State::Starting => starting = Some(STARTING),
                State::Ready => {}
            }
        }
        starting
    }

    /// Answers whether the log was told something.
    fn tell(&mut self, name: &'static str, now: Instant) -> bool {
        let (Some(holds), Some(told)) = (self.holds(name), self.told.get_mut(name)) else {
            return false;
        };
        let Some(line) = told.look(holds, now) else {
            return false;
        };
        let cause = self.cause(name).unwrap_or_default();
        match line {
            Line::First => tracing::info!(condition = name, "ready"),
            Line::Begins { untold: 0 } => tracing::warn!(condition = name, cause, "not ready"),
            Line::Begins { untold } => {
                tracing::warn!(condition = name, cause, untold, "not ready");
            }
            Line::Over { lasted, untold: 0 } => {
                let seconds = lasted.as_secs_f64();
                tracing::info!(condition = name, seconds, "ready again");
            }
            Line::Over { lasted, untold } => {
                let seconds = lasted.as_secs_f64();
                tracing::info!(condition = name, seconds, untold, "ready again");
            }
        }
        true
    }
}

#[cfg(test)]
mod tests;
