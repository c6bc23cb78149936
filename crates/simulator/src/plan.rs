//! The delivery plan: what is published when, how often and how broken.

mod lane;
mod reports;

pub use reports::KEY_VALUES_INTERVAL;

use crate::fleet::Fleet;
use crate::scenario::{BadScenario, Fate, Limit, Scenario};
use crate::summary::Summary;
use bytes::Bytes;
use domain::rejection::Reason;
use domain::time::Timestamp;
use lane::Lane;
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use std::cmp::{Ordering, Reverse};
use std::collections::{BinaryHeap, HashMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;
use uuid::Uuid;
use wire::topic::RecordKind;

/// Most publications that a plan holds back, about 60 MB; beyond it the earliest comes at once.
pub const HELD_BACK_MAXIMUM: usize = 100_000;

/// One message to publish with QoS 1.
#[derive(Clone, Debug, PartialEq)]
pub struct Publication {
    /// MQTT topic.
    pub topic: Arc<str>,
    /// What kind of record it carries.
    pub record: RecordKind,
    /// The record's bytes, or what is left of them.
    pub payload: Bytes,
    /// What the service must make of it.
    pub kind: Kind,
    /// Whose record.
    pub building: Uuid,
    /// The time of the record (of a corrupted one: of the record that it was).
    pub time: Timestamp,
}

/// What the service must make of a publication.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A new record, in time.
    Good,
    /// The same bytes once more.
    Duplicate,
    /// A new record that comes later than its time.
    Late,
    /// A dead letter with this reason.
    Invalid(Reason),
}

/// Yields a fleet's publications, in the order of their publication; as an iterator, without waiting.
#[derive(Debug)]
pub struct Plan {
    scenario: Scenario,
    start: Timestamp,
    lanes: Vec<Lane>,
    /// The lanes of the buildings that listen to what is desired of them.
    listeners: HashMap<Uuid, usize>,
    /// The time of the newest record.
    reached: Timestamp,
    tick: u64,
    lane: usize,
    /// Made together with what was published last, and next in turn.
    ready: VecDeque<Publication>,
    held: BinaryHeap<Reverse<Held>>,
    held_so_far: u64,
    summary: Summary,
}

/// A message that a controller has made, and what becomes of it.
#[derive(Debug)]
struct Made {
    fate: Fate,
    /// How long it, or its copy, is held back.
    delay: Duration,
    publication: Publication,
}

impl Plan {
    /// Plans the whole fleet from `start` on.
    ///
    /// # Errors
    /// An option of the scenario that makes no sense.
    pub fn new(scenario: &Scenario, start: Timestamp) -> Result<Self, BadScenario> {
        Self::part(scenario, start, 0, 1)
    }

    /// Plans every building whose number leaves `part` when divided by `parts`. All parts together
    /// publish exactly what the whole plan does.
    ///
    /// # Errors
    /// An option of the scenario that makes no sense.
    pub fn part(
        scenario: &Scenario,
        start: Timestamp,
        part: usize,
        parts: usize,
    ) -> Result<Self, BadScenario> {
        scenario.check()?;
        let fleet = Fleet::new(scenario.seed, scenario.buildings);
        let lanes = fleet.buildings().iter().enumerate();
        let lanes = lanes
            .skip(part)
            .step_by(parts.max(1))
            .map(|(index, building)| Lane::new(building, index, scenario));
        let lanes: Vec<Lane> = lanes.collect();
        let numbered = lanes.iter().enumerate();
        let listeners = numbered.filter(|_| lane::listens(scenario));
        Ok(Self {
            listeners: listeners
                .map(|(number, lane)| (lane.uuid, number))
                .collect(),
            lanes,
            reached: start,
            scenario: scenario.clone(),
            start,
            tick: 0,
            lane: 0,
            ready: VecDeque::new(),
            held: BinaryHeap::new(),
            held_so_far: 0,
            summary: Summary::default(),
        })
    }

    /// When to ask again; `None` once everything is published. (What is due may turn out to be a
    /// record that is never published.)
    #[must_use]
    pub fn next_due(&self) -> Option<Timestamp> {
        if !self.ready.is_empty() {
            return Some(self.start);
        }
        let held = self.held.peek().map(|Reverse(held)| held.due);
        match (held, self.next_record()) {
            // At the end everything that is held back comes at once.
            (Some(_), None) => Some(self.start),
            (Some(held), Some(record)) => Some(held.min(record)),
            (None, record) => record,
        }
    }

    /// The next publication that is due at `now`.
    pub fn next_until(&mut self, now: Timestamp) -> Option<Publication> {
        loop {
            if let Some(publication) = self.ready.pop_front() {
                return Some(self.counted(publication));
            }
            let due = self.next_due().filter(|due| *due <= now)?;
            match self.next_record() {
                Some(time) if self.held.len() < HELD_BACK_MAXIMUM && !self.holds(due) => {
                    self.produce(time);
                }
                Some(_) | None => {
                    let Reverse(held) = self.held.pop()?;
                    return Some(self.counted(held.publication));
                }
            }
        }
    }

    /// Whose records these are.
    pub(crate) fn buildings(&self) -> impl Iterator<Item = Uuid> {
        self.lanes.iter().map(|lane| lane.uuid)
    }

    /// Takes what is desired of a building, and answers the report on it that is to be published;
    /// `now` is `None` where records do not keep to the clock.
    pub(crate) fn desire(
        &mut self,
        building: Uuid,
        payload: &[u8],
        now: Option<Timestamp>,
    ) -> Option<Publication> {
        let lane = self.listeners.get(&building)?;
        let report = self.lanes[*lane].desire(payload, now.unwrap_or(self.reached))?;
        self.summary.reports.records += 1;
        Some(self.counted(report))
    }

    /// Who listens to what is desired of it, in the order of the buildings.
    pub(crate) fn listeners(&self) -> Vec<Uuid> {
        let buildings = self.buildings();
        buildings
            .filter(|it| self.listeners.contains_key(it))
            .collect()
    }

    /// What was made and published so far; what the broker makes of it is not counted here.
    #[must_use]
    pub fn summary(&self) -> Summary {
        Summary {
            held_back: self.held.len() as u64,
            ..self.summary
        }
    }

    fn holds(&self, due: Timestamp) -> bool {
        self.held
            .peek()
            .is_some_and(|Reverse(held)| held.due <= due)
    }

    /// The time of the next record: the buildings take turns within the interval.
    fn next_record(&self) -> Option<Timestamp> {
        let lane = self.lanes.get(self.lane)?;
        let buildings = self.scenario.buildings as u64;
        let number = self.tick.checked_mul(buildings)?.checked_add(lane.index)?;
        let interval = self.scenario.interval.as_nanos();
        let after_micros = interval * u128::from(number) / u128::from(buildings) / 1_000;
        let after = Duration::from_micros(u64::try_from(after_micros).ok()?);
        let goes_on = match self.scenario.limit {
            Limit::Endless => true,
            Limit::Duration(duration) => after < duration,
            Limit::Records(records) => number < records,
        };
        goes_on.then(|| self.start.plus(after))
    }

    fn produce(&mut self, time: Timestamp) {
        self.reached = time;
        let (reports, telemetry) = self.lanes[self.lane].make(time, &self.scenario);
        self.lane += 1;
        if self.lane == self.lanes.len() {
            self.lane = 0;
            self.tick += 1;
        }
        for made in reports {
            self.place(made);
        }
        self.place(telemetry);
    }

    /// Lets a message take its way.
    fn place(&mut self, made: Made) {
        let Made {
            fate,
            delay,
            publication,
        } = made;
        let due = publication.time.plus(delay);
        let counts = self.summary.of_mut(publication.record);
        counts.records += 1;
        match fate {
            Fate::Missing => {
                counts.missing += 1;
                return;
            }
            Fate::Late => {
                self.hold(due, publication);
                return;
            }
            Fate::Doubled => {
                let kind = Kind::Duplicate;
                let copy = Publication {
                    kind,
                    ..publication.clone()
                };
                self.hold(due, copy);
            }
            Fate::Usual | Fate::Corrupted => {}
        }
        self.ready.push_back(publication);
    }

    fn counted(&mut self, publication: Publication) -> Publication {
        self.summary.count(publication.record, publication.kind);
        publication
    }

    fn hold(&mut self, due: Timestamp, publication: Publication) {
        self.held.push(Reverse(Held {
            due,
            number: self.held_so_far,
            publication,
        }));
        self.held_so_far += 1;
    }
}

impl Iterator for Plan {
    type Item = Publication;

    fn next(&mut self) -> Option<Publication> {
        self.next_until(Timestamp::from_micros(i64::MAX))
    }
}

/// How long a message or its copy is held back; half of the copies follow at once.
fn delay(random: &mut ChaCha8Rng, fate: Fate, longest: Duration) -> Duration {
    let share = match fate {
        Fate::Late => random.random_range(0.1..1.0),
        Fate::Doubled if random.random_bool(0.5) => random.random_range(0.0..1.0),
        Fate::Doubled | Fate::Usual | Fate::Corrupted | Fate::Missing => 0.0,
    };
    longest.mul_f64(share)
}

/// A publication that waits, ordered by when it is due.
#[derive(Debug)]
struct Held {
    due: Timestamp,
    number: u64,
    publication: Publication,
}

impl Held {
    const fn key(&self) -> (Timestamp, u64) {
        (self.due, self.number)
    }
}

impl PartialEq for Held {
    fn eq(&self, other: &Self) -> bool {
        self.key() == other.key()
    }
}

impl Eq for Held {}

impl PartialOrd for Held {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Held {
    fn cmp(&self, other: &Self) -> Ordering {
        self.key().cmp(&other.key())
    }
}
