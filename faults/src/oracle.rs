//! What the database must hold, from the ledger alone: another way to the same numbers.

use crate::ledger::{Entry, Fact, Identity, Micros};
use std::collections::BTreeMap;

const SECOND: Micros = 1_000_000;
const MINUTE: Micros = 60 * SECOND;
const QUARTER: Micros = 15 * MINUTE;
const DAY: Micros = 24 * 60 * MINUTE;
/// A power holds until the next sample if that comes within this.
const HOLDS: Micros = 120 * SECOND;

/// Section 0 main meter, 1 battery, 2 solar, of a building.
pub(crate) type Series = (usize, usize);

/// What a bucket holds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Bucket {
    pub(crate) samples: i64,
    pub(crate) positive_sum_w: i64,
    pub(crate) negative_sum_w: i64,
    pub(crate) first_at: Micros,
    pub(crate) last_at: Micros,
    pub(crate) last_power_w: i64,
    pub(crate) covered_us: i64,
    pub(crate) positive_energy_wus: i128,
    pub(crate) negative_energy_wus: i128,
}

/// A day's bucket with what the series has counted until its last sample.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Day {
    pub(crate) samples: i64,
    pub(crate) positive_total_wus: i128,
    pub(crate) negative_total_wus: i128,
}

/// Everything that must be there.
#[derive(Debug, Default)]
pub(crate) struct Expected {
    pub(crate) minutes: BTreeMap<(Series, Micros), Bucket>,
    pub(crate) quarters: BTreeMap<(Series, Micros), Bucket>,
    pub(crate) days: BTreeMap<(Series, Micros), Day>,
    pub(crate) latest: BTreeMap<Series, (Micros, i64)>,
    /// By building and time.
    pub(crate) registers: BTreeMap<(usize, Micros), f64>,
    /// Newest by building.
    pub(crate) key_values: BTreeMap<usize, (Micros, i64)>,
}

/// Works out what follows from the facts.
pub(crate) fn expected(facts: &BTreeMap<Identity, Entry>) -> Expected {
    let mut expected = Expected::default();
    let mut samples: BTreeMap<Series, BTreeMap<Micros, i64>> = BTreeMap::new();
    for (identity, entry) in facts {
        let (building, at) = (identity.building, identity.at);
        match entry.fact {
            Fact::Telemetry { powers_w } => {
                for (section, power_w) in powers_w.into_iter().enumerate() {
                    if let Some(power_w) = power_w {
                        let of_series = samples.entry((building, section)).or_default();
                        of_series.insert(at, i64::from(power_w));
                    }
                }
            }
            Fact::Register { reading } => {
                expected.registers.insert((building, at), reading);
            }
            Fact::KeyValue { value } => {
                let newest = expected.key_values.entry(building).or_insert((at, value));
                if newest.0 < at {
                    *newest = (at, value);
                }
            }
            Fact::Invalid => {}
        }
    }
    for (series, samples) in samples {
        if let Some((at, power_w)) = samples.last_key_value() {
            expected.latest.insert(series, (*at, *power_w));
        }
        for (start, bucket) in buckets(&samples, MINUTE) {
            expected.minutes.insert((series, start), bucket);
        }
        for (start, bucket) in buckets(&samples, QUARTER) {
            expected.quarters.insert((series, start), bucket);
        }
        for (start, day) in days(&samples) {
            expected.days.insert((series, start), day);
        }
    }
    expected
}

/// One pass over the samples in order of time: each belongs to its interval, and so does what it held until the next
/// one of the same interval.
fn buckets(samples: &BTreeMap<Micros, i64>, length: Micros) -> BTreeMap<Micros, Bucket> {
    let mut buckets: BTreeMap<Micros, Bucket> = BTreeMap::new();
    for (at, power_w) in samples {
        let bucket = buckets.entry(at - at.rem_euclid(length)).or_default();
        if bucket.samples == 0 {
            bucket.first_at = *at;
        } else {
            let gap = at - bucket.last_at;
            hold(bucket, gap);
        }
        bucket.samples += 1;
        bucket.positive_sum_w += power_w.max(&0);
        bucket.negative_sum_w += (-power_w).max(0);
        bucket.last_at = *at;
        bucket.last_power_w = *power_w;
    }
    buckets
}

fn hold(bucket: &mut Bucket, gap: Micros) {
    if gap <= HOLDS {
        let energy = i128::from(bucket.last_power_w) * i128::from(gap);
        bucket.covered_us += gap;
        bucket.positive_energy_wus += energy.max(0);
        bucket.negative_energy_wus += (-energy).max(0);
    }
}

/// What was counted since the very first sample, told at the last sample of each day.
fn days(samples: &BTreeMap<Micros, i64>) -> BTreeMap<Micros, Day> {
    let mut days = BTreeMap::new();
    let mut whole = Bucket::default();
    let mut of_day: BTreeMap<Micros, i64> = BTreeMap::new();
    for (at, power_w) in samples {
        if whole.samples > 0 {
            let gap = at - whole.last_at;
            hold(&mut whole, gap);
        }
        whole.samples += 1;
        whole.last_at = *at;
        whole.last_power_w = *power_w;
        let start = at - at.rem_euclid(DAY);
        let samples = of_day.entry(start).or_default();
        *samples += 1;
        let day = Day {
            samples: *samples,
            positive_total_wus: whole.positive_energy_wus,
            negative_total_wus: whole.negative_energy_wus,
        };
        days.insert(start, day);
    }
    days
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_power_holds_for_two_minutes_at_most_and_belongs_to_its_interval() {
        let at = |seconds: i64| seconds * SECOND;
        let samples = BTreeMap::from([(at(10), 100), (at(40), -50), (at(70), 7), (at(191), 9)]);
        let minutes = buckets(&samples, MINUTE);
        let first = &minutes[&0];
        assert_eq!((first.samples, first.covered_us), (2, at(30)));
        assert_eq!(first.positive_energy_wus, i128::from(100 * at(30)));
        let quarter = &buckets(&samples, QUARTER)[&0];
        // 121 s between the last two: nothing held.
        assert_eq!((quarter.samples, quarter.covered_us), (4, at(60)));
        assert_eq!(quarter.negative_energy_wus, i128::from(50 * at(30)));
        assert_eq!(
            days(&samples)[&0].negative_total_wus,
            quarter.negative_energy_wus
        );
    }
}
