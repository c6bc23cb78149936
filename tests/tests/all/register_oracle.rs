//! What registers read, told by the decisions' words and from raw records only: nothing here knows of
//! buckets, and nothing of the calendar that the service has.

use std::collections::BTreeMap;
use std::ops::Range;

/// Microseconds.
pub(crate) const SECOND: i64 = 1_000_000;
/// Microseconds.
pub(crate) const MINUTE: i64 = 60 * SECOND;
/// Microseconds.
pub(crate) const QUARTER: i64 = 900 * SECOND;
/// A sample's power holds until the next one, if that comes within this.
const HOLDS: i64 = 120 * SECOND;

/// What one sensor sent, by its time in microseconds.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sent {
    /// Power in the sensor's direction, watt.
    pub(crate) power_w: BTreeMap<i64, i64>,
    /// The meter's own register.
    pub(crate) register: BTreeMap<i64, f64>,
    /// Whether the service keeps a virtual register for it.
    pub(crate) electric: bool,
}

/// What a register read.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Read {
    /// By the meter itself.
    Own(f64),
    /// Counted by the service, watt-microseconds.
    Counted(i128),
}

impl Sent {
    /// Every reading of the sensor's register, with its time.
    pub(crate) fn readings(&self) -> Vec<(i64, Read)> {
        if !self.register.is_empty() {
            let own = self.register.iter();
            return own.map(|(time, read)| (*time, Read::Own(*read))).collect();
        }
        if !self.electric {
            return Vec::new();
        }
        let mut minutes: Vec<i64> = self.power_w.keys().map(|it| it / MINUTE * MINUTE).collect();
        minutes.dedup();
        let counted = |minute: i64| (minute, Read::Counted(self.energy_until(minute)));
        minutes.into_iter().map(counted).collect()
    }

    /// Each sample's power for as long as it holds before `end`.
    fn energy_until(&self, end: i64) -> i128 {
        let samples: Vec<(i64, i64)> = self.power_w.iter().map(|it| (*it.0, *it.1)).collect();
        let mut energy = 0;
        for pair in samples.windows(2) {
            let ((from, power_w), (until, _)) = (pair[0], pair[1]);
            if until - from <= HOLDS && from < end {
                energy += i128::from(power_w) * i128::from(until.min(end) - from);
            }
        }
        energy
    }

    /// The first reading in an interval.
    pub(crate) fn first_in(&self, interval: &Range<i64>) -> Option<(i64, Read)> {
        let readings = self.readings().into_iter();
        readings
            .filter(|(time, _)| interval.contains(time))
            .min_by_key(|(time, _)| *time)
    }

    /// The last reading before a moment.
    pub(crate) fn last_before(&self, moment: i64) -> Option<(i64, Read)> {
        let readings = self.readings().into_iter();
        readings
            .filter(|(time, _)| *time < moment)
            .max_by_key(|(time, _)| *time)
    }
}

/// Some days of a timezone in a row: the moments at which they start, and the last one's end.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Days(pub(crate) [i64; 6]);

impl Days {
    /// The night of 29 March 2026 in Amsterdam has an hour less.
    pub(crate) const SPRING: Self = Self([
        1_774_566_000, // 27 March, 00:00, UTC+1
        1_774_652_400, // 28 March
        1_774_738_800, // 29 March
        1_774_821_600, // 30 March, 00:00, UTC+2
        1_774_908_000, // 31 March
        1_774_994_400, // 1 April
    ]);
    /// The night of 25 October 2026 in Amsterdam has an hour more.
    pub(crate) const AUTUMN: Self = Self([
        1_792_706_400, // 23 October, 00:00, UTC+2
        1_792_792_800, // 24 October
        1_792_879_200, // 25 October
        1_792_969_200, // 26 October, 00:00, UTC+1
        1_793_055_600, // 27 October
        1_793_142_000, // 28 October
    ]);

    /// The day that contains a moment, in microseconds.
    pub(crate) fn containing(&self, moment: i64) -> Range<i64> {
        let days = self.0.windows(2).map(|it| it[0] * SECOND..it[1] * SECOND);
        let mut found = days.filter(|day| day.contains(&moment));
        found.next().expect("the moment is within the days")
    }
}
