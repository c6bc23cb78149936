//! What a fleet has done, counted.

use crate::fault::Fault;
use crate::plan::Kind;
use domain::rejection::Reason;
use std::ops::AddAssign;

/// What a fleet has done. Once everything is published: `records = missing + good + late + invalid`, where
/// `good` counts the first copies and `duplicates` the second ones.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// Records that the controllers made, whatever became of them.
    pub records: u64,
    /// Records that are never published.
    pub missing: u64,
    /// Good records published in time.
    pub good: u64,
    /// Second copies of good records.
    pub duplicates: u64,
    /// Good records published later.
    pub late: u64,
    /// Corrupted records, in the order of [`Fault::ALL`].
    pub invalid: [u64; Fault::ALL.len()],
    /// Publications still held back when the fleet was stopped.
    pub held_back: u64,
    /// Publications that the broker has confirmed (the following two included).
    pub acknowledged: u64,
    /// Publications that the broker has confirmed with an error: lost.
    pub refused: u64,
    /// Publications that the broker has confirmed although nobody listens: lost.
    pub unheard: u64,
    /// Publications sent again after a lost connection; the broker may have had them already.
    pub repeated: u64,
    /// Connections that were lost and made anew.
    pub reconnects: u64,
    /// Publications without a confirmation when the fleet was stopped.
    pub unacknowledged: u64,
}

impl Summary {
    /// Publications that were due so far, repetitions after a lost connection left out.
    #[must_use]
    pub fn published(&self) -> u64 {
        self.good + self.duplicates + self.late + self.invalid.iter().sum::<u64>()
    }

    /// Distinct good records: what the service must have stored.
    #[must_use]
    pub const fn valid(&self) -> u64 {
        self.good + self.late
    }

    /// Corrupted records that become dead letters of the reason.
    #[must_use]
    pub fn invalid(&self, reason: Reason) -> u64 {
        let of_reason = Fault::ALL.iter().zip(self.invalid);
        of_reason
            .filter(|(fault, _)| fault.reason() == reason)
            .map(|(_, count)| count)
            .sum()
    }

    pub(crate) fn count(&mut self, kind: Kind) {
        match kind {
            Kind::Good => self.good += 1,
            Kind::Duplicate => self.duplicates += 1,
            Kind::Late => self.late += 1,
            Kind::Invalid(reason) => {
                let faults = Fault::ALL.iter().zip(&mut self.invalid);
                faults
                    .filter(|(fault, _)| fault.reason() == reason)
                    .for_each(|(_, count)| *count += 1);
            }
        }
    }
}

impl AddAssign for Summary {
    fn add_assign(&mut self, other: Self) {
        self.records += other.records;
        self.missing += other.missing;
        self.good += other.good;
        self.duplicates += other.duplicates;
        self.late += other.late;
        for (count, more) in self.invalid.iter_mut().zip(other.invalid) {
            *count += more;
        }
        self.held_back += other.held_back;
        self.acknowledged += other.acknowledged;
        self.refused += other.refused;
        self.unheard += other.unheard;
        self.repeated += other.repeated;
        self.reconnects += other.reconnects;
        self.unacknowledged += other.unacknowledged;
    }
}
