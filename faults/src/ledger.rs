//! What was published and what of it was acknowledged: the publisher's own book, which the service never sees.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Microseconds since the epoch.
pub(crate) type Micros = i64;

/// What a message says.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Fact {
    /// Telemetry: the power of main meter, battery and solar, where they have one.
    Telemetry { powers_w: [Option<i32>; 3] },
    /// What the building's gas meter reads.
    Register { reading: f64 },
    /// The building's one key has this value.
    KeyValue { value: i64 },
    /// Nothing that the schema accepts.
    Invalid,
}

/// What identifies a message: two with the same identity are the same message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Identity {
    /// Number of the building in the fleet.
    pub(crate) building: usize,
    pub(crate) kind: FactKind,
    /// Its time; of an invalid message its number.
    pub(crate) at: Micros,
}

/// The facts without what they say.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum FactKind {
    Telemetry,
    Register,
    KeyValue,
    Invalid,
}

/// What the book knows of a message.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Entry {
    pub(crate) fact: Fact,
    /// How often it was given to the network.
    pub(crate) sent: u32,
    /// How often the broker has confirmed it.
    pub(crate) acknowledged: u32,
}

/// The book; clones share it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ledger(Arc<Mutex<BTreeMap<Identity, Entry>>>);

impl Ledger {
    pub(crate) fn sent(&self, identity: Identity, fact: Fact) {
        let mut entries = self.entries();
        let entry = entries.entry(identity).or_insert(Entry {
            fact,
            sent: 0,
            acknowledged: 0,
        });
        entry.sent += 1;
    }

    pub(crate) fn acknowledged(&self, identity: Identity) {
        if let Some(entry) = self.entries().get_mut(&identity) {
            entry.acknowledged += 1;
        }
    }

    /// The messages of a kind that were given to the network between two times of a building.
    pub(crate) fn count(&self, building: usize, kind: FactKind, from: Micros, to: Micros) -> usize {
        let identity = |at| Identity { building, kind, at };
        self.entries().range(identity(from)..identity(to)).count()
    }

    /// Everything that is in it now.
    pub(crate) fn all(&self) -> BTreeMap<Identity, Entry> {
        self.entries().clone()
    }

    fn entries(&self) -> MutexGuard<'_, BTreeMap<Identity, Entry>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Fact {
    pub(crate) const fn kind(&self) -> FactKind {
        match self {
            Self::Telemetry { .. } => FactKind::Telemetry,
            Self::Register { .. } => FactKind::Register,
            Self::KeyValue { .. } => FactKind::KeyValue,
            Self::Invalid => FactKind::Invalid,
        }
    }
}
