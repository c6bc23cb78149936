//! The records of a run, and which of them were found.
//!
//! Every record of a batch has a time of its own in the whole fleet, so the time alone tells which one it is: also
//! for a contender that sets no key, or writes the payload anew, as long as the payload holds the time.

use benches::records::{Shape, set};
use domain::time::Timestamp;
use serde::Serialize;
use simulator::Fleet;
use std::io::Write as _;
use std::time::{Duration, Instant};
use uuid::Uuid;

/// Everything random follows from it.
pub(crate) const SEED: u64 = 1;
/// Different bodies, which records have in turn.
const BODIES: usize = 1_000;
/// Time between two records of a building in a run without waiting.
const INTERVAL: Duration = Duration::from_secs(1);
/// How long ago these records begin, as those that controllers have kept while their connection was away: every
/// minute has ended, and none is too old.
const SINCE: Duration = Duration::from_secs(2 * 3_600);

/// Records of a fleet, numbered from 0; the buildings take turns.
#[derive(Debug)]
pub(crate) struct Batch {
    /// How many there are.
    pub(crate) records: usize,
    start: Timestamp,
    step: Duration,
    buildings: Vec<Uuid>,
    /// The same by their own order.
    sorted: Vec<Uuid>,
    topics: Vec<String>,
    /// Payloads without the time: everything behind the first comma.
    bodies: Vec<Vec<u8>>,
    /// When the first is due; without it all are due at once.
    begun: Option<Instant>,
}

impl Batch {
    /// Records of the past, to be published without waiting.
    pub(crate) fn at_once(buildings: usize, records: usize, now: Timestamp) -> Self {
        let step = INTERVAL.div_f64(buildings as f64);
        Self::new(buildings, records, now.minus(SINCE), step)
    }

    /// So many records a second from now on, each published when it is its time.
    pub(crate) fn paced(buildings: usize, per_s: u32, seconds: u64, now: Timestamp) -> Self {
        let records = usize::try_from(u64::from(per_s) * seconds).unwrap_or(usize::MAX);
        let step = Duration::from_secs(1) / per_s;
        let mut batch = Self::new(buildings, records, now, step);
        batch.begun = Some(Instant::now());
        batch
    }

    fn new(buildings: usize, records: usize, start: Timestamp, step: Duration) -> Self {
        let fleet = Fleet::new(SEED, buildings);
        let buildings: Vec<Uuid> = fleet.buildings().iter().map(|it| it.uuid).collect();
        let mut sorted = buildings.clone();
        sorted.sort_unstable();
        let topic = |it: &Uuid| format!("v1/buildings/{it}/telemetry");
        let body = |record: Vec<u8>| {
            let time_ends = record.iter().position(|it| *it == b',').unwrap_or_default();
            record[time_ends..].to_vec()
        };
        Self {
            records,
            start,
            // Whole microseconds, as records have them.
            step: Duration::from_micros(u64::try_from(step.as_micros()).unwrap_or(u64::MAX).max(1)),
            topics: buildings.iter().map(topic).collect(),
            sorted,
            buildings,
            bodies: set(Shape::Compact, BODIES).into_iter().map(body).collect(),
            begun: None,
        }
    }

    /// The time of a record.
    pub(crate) fn time(&self, number: usize) -> Timestamp {
        let number = u32::try_from(number).unwrap_or(u32::MAX);
        self.start.plus(self.step * number)
    }

    /// The time behind the last record.
    pub(crate) fn end(&self) -> Timestamp {
        self.time(self.records)
    }

    /// The building of a record.
    pub(crate) fn building(&self, number: usize) -> Uuid {
        self.buildings[number % self.buildings.len()]
    }

    /// Whether a building is one of the fleet.
    pub(crate) fn has(&self, building: Uuid) -> bool {
        self.sorted.binary_search(&building).is_ok()
    }

    /// The MQTT topic of a record.
    pub(crate) fn topic(&self, number: usize) -> &str {
        &self.topics[number % self.topics.len()]
    }

    /// When a record is to be published; at once without.
    pub(crate) fn due(&self, number: usize) -> Option<Instant> {
        let number = u32::try_from(number).unwrap_or(u32::MAX);
        self.begun.map(|begun| begun + self.step * number)
    }

    /// Appends a record's payload.
    pub(crate) fn write(&self, number: usize, payload: &mut Vec<u8>) {
        let body = number + number / self.buildings.len();
        write_record(
            self.time(number),
            &self.bodies[body % self.bodies.len()],
            payload,
        );
    }

    /// A valid record that is none of the batch, to see whether records get through.
    pub(crate) fn probe(&self, number: u16) -> Vec<u8> {
        let mut payload = Vec::new();
        let time = self.start.minus(self.step * (u32::from(number) + 1));
        let body = usize::from(number) % self.bodies.len();
        write_record(time, &self.bodies[body], &mut payload);
        payload
    }

    /// Which record has this time.
    fn number(&self, time: Timestamp) -> Option<usize> {
        let since = u128::try_from(time.micros_since(self.start)).ok()?;
        let step = self.step.as_micros();
        let number = usize::try_from(since / step).ok()?;
        (since % step == 0 && number < self.records).then_some(number)
    }
}

fn write_record(time: Timestamp, body: &[u8], payload: &mut Vec<u8>) {
    let (seconds, micros) = (time.seconds(), time.micros().rem_euclid(1_000_000));
    let written = write!(payload, "{{\"time\":{seconds}.{micros:06}");
    debug_assert!(written.is_ok(), "a vector takes any bytes");
    payload.extend_from_slice(body);
}

/// The time that a payload tells, whoever has written it: the number behind `"time":`, in quotes or not.
pub(crate) fn time_of(payload: &[u8]) -> Option<Timestamp> {
    const KEY: &[u8] = b"\"time\"";
    let key = payload.windows(KEY.len()).position(|it| it == KEY)?;
    let value = payload.get(key + KEY.len()..)?;
    let begin = value.iter().position(|it| !b" \t\r\n:\"".contains(it))?;
    let value = &value[begin..];
    let is_number = |it: &u8| it.is_ascii_digit() || b".eE+-".contains(it);
    let length = value.iter().take_while(|it| is_number(it)).count();
    let seconds: f64 = std::str::from_utf8(&value[..length]).ok()?.parse().ok()?;
    Some(Timestamp::from_record_time(seconds))
}

/// What was found of a batch, by identity.
pub(crate) struct Tally<'a> {
    batch: &'a Batch,
    times_found: Vec<u8>,
    unexpected: u64,
}

/// How many of the records were found.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub(crate) struct Counted {
    /// Published and found.
    pub(crate) found: u64,
    /// Published and not found.
    pub(crate) missing: u64,
    /// Found once more.
    pub(crate) doubled: u64,
    /// Found and never published, or under another building's name.
    pub(crate) unexpected: u64,
}

impl Counted {
    /// Whether each record that was published is there once, and nothing else.
    pub(crate) const fn is_exact(&self) -> bool {
        self.missing == 0 && self.doubled == 0 && self.unexpected == 0
    }
}

impl<'a> Tally<'a> {
    pub(crate) fn new(batch: &'a Batch) -> Self {
        Self {
            batch,
            times_found: vec![0; batch.records],
            unexpected: 0,
        }
    }

    /// Takes note of a record with this time, and this building where it is told.
    pub(crate) fn note(&mut self, time: Timestamp, building: Option<Uuid>) {
        let number = self.batch.number(time);
        let number = number.filter(|it| building.is_none_or(|own| own == self.batch.building(*it)));
        match number.and_then(|it| self.times_found.get_mut(it)) {
            Some(times) => *times = times.saturating_add(1),
            None => self.unexpected += 1,
        }
    }

    pub(crate) fn counted(&self) -> Counted {
        let times = self.times_found.iter();
        let found = times.clone().filter(|it| **it > 0).count() as u64;
        Counted {
            found,
            missing: self.batch.records as u64 - found,
            doubled: times.map(|it| u64::from(*it)).sum::<u64>() - found,
            unexpected: self.unexpected,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn batch() -> Batch {
        Batch::at_once(10, 1_000, Timestamp::from_seconds(1_700_000_000))
    }

    #[test]
    fn every_record_is_valid_and_told_apart_by_its_time() {
        let batch = batch();
        let mut tally = Tally::new(&batch);
        for number in 0..batch.records {
            let mut payload = Vec::new();
            batch.write(number, &mut payload);
            assert!(wire::decode::decode_telemetry(&payload).is_ok());
            tally.note(time_of(&payload).unwrap(), Some(batch.building(number)));
        }
        assert!(tally.counted().is_exact());
    }

    #[test]
    fn what_is_missing_doubled_or_foreign_is_counted_as_such() {
        let batch = batch();
        let mut tally = Tally::new(&batch);
        for number in [0, 1, 1, 2] {
            tally.note(batch.time(number), None);
        }
        tally.note(batch.end(), None);
        tally.note(batch.time(3), Some(batch.building(4)));
        let counted = tally.counted();
        assert_eq!((counted.found, counted.missing), (3, 997));
        assert_eq!((counted.doubled, counted.unexpected), (1, 2));
    }

    #[test]
    fn a_time_is_found_however_it_is_written() {
        let wanted = Some(Timestamp::from_micros(1_700_000_000_123_456));
        for text in [
            r#"{"time":1700000000.123456,"solar":{}}"#,
            r#"{"fields": {"time" : 1.700000000123456e9}}"#,
            r#"{"time":"1700000000.123456"}"#,
        ] {
            assert_eq!(time_of(text.as_bytes()), wanted, "{text}");
        }
        assert_eq!(time_of(b"{}"), None);
    }

    #[test]
    fn a_probe_is_valid_and_none_of_the_batch() {
        let batch = batch();
        let probe = batch.probe(0);
        assert!(wire::decode::decode_telemetry(&probe).is_ok());
        assert_eq!(batch.number(time_of(&probe).unwrap()), None);
    }
}
