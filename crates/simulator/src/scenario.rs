//! What a fleet shall do: how many, how often, how long, how badly.

use std::time::Duration;

/// Shorter intervals would be lost in the timers.
pub const SHORTEST_INTERVAL: Duration = Duration::from_millis(1);
/// Longer intervals have no use, and the battery's arithmetic is exact up to here.
pub const LONGEST_INTERVAL: Duration = Duration::from_secs(86_400);
/// Late records come within this time unless the scenario says otherwise.
pub const DEFAULT_LATE_DELAY: Duration = Duration::from_secs(120);
/// Records are kept at least 49 hours: a later one could be refused as too old.
pub const LONGEST_LATE_DELAY: Duration = Duration::from_secs(48 * 3600);

/// How often readings are sent unless the scenario says otherwise.
pub const DEFAULT_READINGS_INTERVAL: Duration = Duration::from_secs(60);

/// What a fleet shall do.
#[derive(Clone, Debug, PartialEq)]
pub struct Scenario {
    /// Everything random follows from it.
    pub seed: u64,
    /// How many buildings, at least one.
    pub buildings: usize,
    /// Time between two records of a building, [`SHORTEST_INTERVAL`] to [`LONGEST_INTERVAL`].
    pub interval: Duration,
    /// What its controllers send.
    pub topics: Topics,
    /// What they make of what is desired of them; with [`Topics::All`] only.
    pub answers: Answers,
    /// Time between two messages with readings of a building, which come with the next telemetry record;
    /// [`SHORTEST_INTERVAL`] to [`LONGEST_INTERVAL`].
    pub readings_interval: Duration,
    /// When it ends.
    pub limit: Limit,
    /// How many of the telemetry records, and of the messages with readings, have an unusual fate.
    pub shares: Shares,
    /// Late records and second copies are held back for at most this long.
    pub late_delay: Duration,
}

impl Scenario {
    /// An endless, faultless fleet that sends telemetry only.
    #[must_use]
    pub fn new(seed: u64, buildings: usize, interval: Duration) -> Self {
        Self {
            seed,
            buildings,
            interval,
            topics: Topics::TelemetryOnly,
            answers: Answers::Obeys,
            readings_interval: DEFAULT_READINGS_INTERVAL,
            limit: Limit::Endless,
            shares: Shares::default(),
            late_delay: DEFAULT_LATE_DELAY,
        }
    }

    /// Looks for values that make no sense.
    ///
    /// # Errors
    /// The first such value, by the name of its option, and what is expected of it.
    pub fn check(&self) -> Result<(), BadScenario> {
        let refuse = |option, expected| Err(BadScenario { option, expected });
        if self.buildings == 0 {
            return refuse("buildings", "at least one");
        }
        if !(SHORTEST_INTERVAL..=LONGEST_INTERVAL).contains(&self.interval) {
            return refuse("interval", "1 ms to 24 hours");
        }
        if !(SHORTEST_INTERVAL..=LONGEST_INTERVAL).contains(&self.readings_interval) {
            return refuse("readings interval", "1 ms to 24 hours");
        }
        if !(SHORTEST_INTERVAL..=LONGEST_LATE_DELAY).contains(&self.late_delay) {
            return refuse("late delay", "1 ms to 48 hours");
        }
        self.shares.check()
    }
}

/// What controllers send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Topics {
    /// Telemetry, readings, key-values, presence, and reports on what is desired.
    All,
    /// Telemetry and nothing else.
    TelemetryOnly,
}

/// What controllers make of what is desired of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answers {
    /// They do what they can and report on it.
    Obeys,
    /// They do nothing and report every action as rejected.
    Rejects,
    /// They do what they can and report nothing.
    Silent,
    /// They do not listen.
    Deaf,
}

/// When a scenario ends; what is held back then comes at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// Only when it is told to.
    Endless,
    /// After this time of records.
    Duration(Duration),
    /// After this many telemetry records of all buildings together, the missing ones included.
    Records(u64),
}

/// Shares of all records, each 0 to 1, together at most 1: a record has one fate.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Shares {
    /// Published twice.
    pub duplicates: f64,
    /// Published later than their time.
    pub late: f64,
    /// Corrupted, so that the service refuses them.
    pub invalid: f64,
    /// Never published.
    pub gaps: f64,
}

impl Shares {
    fn check(&self) -> Result<(), BadScenario> {
        let named = [
            ("duplicates", self.duplicates),
            ("late", self.late),
            ("invalid", self.invalid),
            ("gaps", self.gaps),
        ];
        for (option, share) in named {
            if !(0.0..=1.0).contains(&share) {
                let expected = "a share of 0 to 1";
                return Err(BadScenario { option, expected });
            }
        }
        // A hair above 1 is how 0.1 + 0.2 + 0.7 may come out.
        if named.iter().map(|(_, share)| share).sum::<f64>() > 1.0 + 1e-9 {
            return Err(BadScenario {
                option: "duplicates, late, invalid and gaps",
                expected: "at most 1 together, as a record has one fate",
            });
        }
        Ok(())
    }

    /// The fate that a draw (0 to 1, without 1) stands for.
    pub(crate) fn fate(&self, draw: f64) -> Fate {
        let fates = [
            (self.gaps, Fate::Missing),
            (self.invalid, Fate::Corrupted),
            (self.late, Fate::Late),
            (self.duplicates, Fate::Doubled),
        ];
        let mut below = 0.0;
        for (share, fate) in fates {
            below += share;
            if draw < below {
                return fate;
            }
        }
        Fate::Usual
    }
}

/// What becomes of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    Usual,
    Doubled,
    Late,
    Corrupted,
    Missing,
}

/// An option of a scenario that makes no sense.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{option}: expected {expected}")]
pub struct BadScenario {
    /// Name of the option.
    pub option: &'static str,
    /// What would make sense.
    pub expected: &'static str,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_option_that_makes_no_sense_is_named() {
        let check = |change: fn(&mut Scenario), named: &str| {
            let mut scenario = Scenario::new(1, 1, Duration::from_secs(1));
            change(&mut scenario);
            let told = scenario.check().map_err(|bad| bad.option);
            assert_eq!(told.err().unwrap_or(""), named);
        };
        check(|_| (), "");
        check(|s| s.shares.late = 1.0, "");
        check(|s| s.buildings = 0, "buildings");
        check(|s| s.interval = Duration::ZERO, "interval");
        check(
            |s| s.readings_interval = Duration::ZERO,
            "readings interval",
        );
        check(|s| s.shares.invalid = -0.1, "invalid");
        check(|s| s.shares.gaps = f64::NAN, "gaps");
        check(
            |s| (s.shares.gaps, s.shares.late) = (0.6, 0.6),
            "duplicates, late, invalid and gaps",
        );
    }
}
