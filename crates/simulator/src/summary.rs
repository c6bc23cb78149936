//! What a fleet has done, counted.

use crate::fault::Fault;
use crate::plan::Kind;
use domain::rejection::Reason;
use std::ops::AddAssign;
use wire::topic::RecordKind;

/// What a fleet has done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// Realtime telemetry.
    pub telemetry: Counts,
    /// Messages with readings.
    pub readings: Counts,
    /// Messages with key-values.
    pub key_values: Counts,
    /// Presence, as said at the beginning and the end of connections; last wills are the broker's.
    pub presence: Counts,
    /// Reports on what is desired of the controllers.
    pub reports: Counts,
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

/// What became of the messages of one kind. Once everything is published: `records = missing + good +
/// late + invalid`, where `good` counts the first copies and `duplicates` the second ones.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Messages that the controllers made, whatever became of them.
    pub records: u64,
    /// Messages that are never published.
    pub missing: u64,
    /// Good messages published in time.
    pub good: u64,
    /// Second copies of good messages.
    pub duplicates: u64,
    /// Good messages published later.
    pub late: u64,
    /// Corrupted messages, in the order of [`Fault::ALL`].
    pub invalid: [u64; Fault::ALL.len()],
}

impl Summary {
    /// All kinds together.
    #[must_use]
    pub fn total(&self) -> Counts {
        let mut total = self.telemetry;
        for counts in [self.readings, self.key_values, self.presence, self.reports] {
            total += counts;
        }
        total
    }

    /// Publications that were due so far, repetitions after a lost connection left out.
    #[must_use]
    pub fn published(&self) -> u64 {
        self.total().published()
    }

    pub(crate) fn count(&mut self, record: RecordKind, kind: Kind) {
        self.of_mut(record).count(kind);
    }

    /// The counts of a kind.
    pub(crate) fn of_mut(&mut self, record: RecordKind) -> &mut Counts {
        match record {
            RecordKind::Telemetry => &mut self.telemetry,
            RecordKind::Readings => &mut self.readings,
            RecordKind::KeyValues => &mut self.key_values,
            RecordKind::Presence => &mut self.presence,
            RecordKind::Reported => &mut self.reports,
        }
    }
}

impl Counts {
    /// Publications that were due so far.
    #[must_use]
    pub fn published(&self) -> u64 {
        self.good + self.duplicates + self.late + self.refused()
    }

    /// Distinct good messages: what the service must have stored.
    #[must_use]
    pub const fn valid(&self) -> u64 {
        self.good + self.late
    }

    /// Corrupted messages, whatever the reason.
    #[must_use]
    pub fn refused(&self) -> u64 {
        self.invalid.iter().sum()
    }

    /// Corrupted messages that become dead letters of the reason.
    #[must_use]
    pub fn invalid(&self, reason: Reason) -> u64 {
        let of_reason = Fault::ALL.iter().zip(self.invalid);
        of_reason
            .filter(|(fault, _)| fault.reason() == reason)
            .map(|(_, count)| count)
            .sum()
    }

    fn count(&mut self, kind: Kind) {
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

impl AddAssign for Counts {
    fn add_assign(&mut self, other: Self) {
        self.records += other.records;
        self.missing += other.missing;
        self.good += other.good;
        self.duplicates += other.duplicates;
        self.late += other.late;
        for (count, more) in self.invalid.iter_mut().zip(other.invalid) {
            *count += more;
        }
    }
}

impl AddAssign for Summary {
    fn add_assign(&mut self, other: Self) {
        self.telemetry += other.telemetry;
        self.readings += other.readings;
        self.key_values += other.key_values;
        self.presence += other.presence;
        self.reports += other.reports;
        self.held_back += other.held_back;
        self.acknowledged += other.acknowledged;
        self.refused += other.refused;
        self.unheard += other.unheard;
        self.repeated += other.repeated;
        self.reconnects += other.reconnects;
        self.unacknowledged += other.unacknowledged;
    }
}
