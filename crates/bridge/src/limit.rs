//! What one building may send: a building that floods must not become everybody's trouble.
//!
//! Each building has a bucket of tokens, one a message: full it holds an hour's worth, so that a controller that
//! catches up after an outage is not held up, and it fills at the sustained rate. The time is told by the
//! caller and never goes back.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::time::Duration;
use tokio::time::Instant;
use uuid::Uuid;

/// What a full bucket holds: so long at the sustained rate.
const BURST: Duration = Duration::from_secs(3_600);

/// Buildings whose buckets are not full, at most: bounds memory (some MiB). Beyond, a building that is not
/// among them is not limited; so many at once are no single building's flood.
const MOST_BUILDINGS: usize = 100_000;

/// Where all of them are busy, full buckets are looked for so often: to look costs as much as there are buildings.
const LOOK_AGAIN_AFTER: Duration = Duration::from_secs(1);

/// Buildings whose flood is told, at most: bounds memory and log lines.
const MOST_FLOODS: usize = 1_000;

/// A flood is over when its building has been within its limit for so long.
const OVER_AFTER: Duration = Duration::from_secs(60);

/// Which buildings have sent how much of late.
pub(crate) struct Limit {
    /// Time that one message takes from its building's bucket; none without a limit.
    each: Option<Duration>,
    /// When the bucket of a building is full again; a building without an entry has a full one.
    full_at: HashMap<Uuid, Instant>,
    /// As many entries as may be there before those of full buckets are taken out.
    clear_at: usize,
    /// When that was done last.
    cleared_at: Option<Instant>,
    floods: HashMap<Uuid, Flood>,
}

/// A building that is beyond its limit.
struct Flood {
    begun: Instant,
    last: Instant,
    messages: u64,
}

impl Limit {
    /// A sustained rate in messages a second for each building; 0 for none.
    pub(crate) fn new(per_second: u32) -> Self {
        Self {
            each: Duration::from_secs(1).checked_div(per_second),
            full_at: HashMap::new(),
            clear_at: 1_024,
            cleared_at: None,
            floods: HashMap::new(),
        }
    }

    /// Takes a token of the building; tells whether there was one.
    pub(crate) fn allows(&mut self, building: Uuid, now: Instant) -> bool {
        let Some(each) = self.each else { return true };
        self.make_room(now);
        let is_crowded = self.full_at.len() >= MOST_BUILDINGS;
        let full_at = match self.full_at.entry(building) {
            Entry::Occupied(occupied) => occupied.into_mut(),
            Entry::Vacant(_) if is_crowded => return true,
            Entry::Vacant(vacant) => vacant.insert(now),
        };
        let next = (*full_at).max(now) + each;
        let allowed = next <= now + BURST;
        if allowed {
            *full_at = next;
        } else {
            self.note(building, now);
        }
        allowed
    }

    /// Buildings whose flood is not over.
    pub(crate) fn flooding(&self) -> usize {
        self.floods.len()
    }

    /// Tells which floods are over.
    pub(crate) fn look(&mut self, now: Instant) {
        self.floods.retain(|building, flood| {
            let goes_on = now.duration_since(flood.last) < OVER_AFTER;
            if !goes_on {
                tracing::info!(
                    %building,
                    messages = flood.messages,
                    seconds = flood.last.duration_since(flood.begun).as_secs(),
                    "the building is within its limit again"
                );
            }
            goes_on
        });
    }

    fn note(&mut self, building: Uuid, now: Instant) {
        let known = self.floods.len();
        match self.floods.entry(building) {
            Entry::Occupied(mut flood) => {
                let flood = flood.get_mut();
                flood.last = now;
                flood.messages += 1;
            }
            Entry::Vacant(vacant) if known < MOST_FLOODS => {
                tracing::warn!(
                    %building,
                    "the building sends more than one may: what is beyond becomes dead letters (over_limit)"
                );
                vacant.insert(Flood {
                    begun: now,
                    last: now,
                    messages: 1,
                });
            }
            Entry::Vacant(_) => {}
        }
    }

    /// Takes out full buckets, each time that there are twice as many as the last time, and at most once a second.
    fn make_room(&mut self, now: Instant) {
        let lately = |cleared_at: Instant| now < cleared_at + LOOK_AGAIN_AFTER;
        if self.full_at.len() >= self.clear_at && !self.cleared_at.is_some_and(lately) {
            self.cleared_at = Some(now);
            self.full_at.retain(|_, full_at| *full_at > now);
            self.clear_at = (2 * self.full_at.len()).clamp(1_024, MOST_BUILDINGS);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn allowed(limit: &mut Limit, building: Uuid, messages: usize, now: Instant) -> usize {
        (0..messages)
            .filter(|_| limit.allows(building, now))
            .count()
    }

    #[test]
    fn an_hours_worth_may_come_at_once_and_then_the_sustained_rate() {
        let start = Instant::now();
        let (one, other) = (Uuid::from_u128(1), Uuid::from_u128(2));
        let mut limit = Limit::new(100);
        assert_eq!(allowed(&mut limit, one, 400_000, start), 360_000);
        assert_eq!(allowed(&mut limit, other, 10, start), 10);
        let later = start + Duration::from_secs(10);
        assert_eq!(allowed(&mut limit, one, 5_000, later), 1_000);
        let next_day = start + Duration::from_secs(86_400);
        assert_eq!(allowed(&mut limit, one, 400_000, next_day), 360_000);
    }

    #[test]
    fn two_days_of_records_may_be_caught_up_with_the_default() {
        let building = Uuid::from_u128(1);
        let mut limit = Limit::new(100);
        let records = 48 * 3_600 + 48 * 60;
        assert_eq!(
            allowed(&mut limit, building, records, Instant::now()),
            records
        );
    }

    #[test]
    fn without_a_limit_everything_is_allowed_and_nothing_remembered() {
        let mut limit = Limit::new(0);
        let now = Instant::now();
        assert_eq!(
            allowed(&mut limit, Uuid::from_u128(1), 1_000_000, now),
            1_000_000
        );
        assert!(limit.full_at.is_empty());
    }

    #[test]
    fn memory_is_bounded_however_many_buildings_send() {
        let (now, begun) = (Instant::now(), Instant::now());
        let mut limit = Limit::new(1);
        for building in 0..200_000 {
            assert!(limit.allows(Uuid::from_u128(building), now));
        }
        assert_eq!(limit.full_at.len(), MOST_BUILDINGS);
        // All of them are busy: to look for room with each message would take a minute.
        assert!(
            begun.elapsed() < Duration::from_secs(10),
            "{:?}",
            begun.elapsed()
        );
        let later = now + Duration::from_secs(5);
        assert!(limit.allows(Uuid::from_u128(1), later));
        assert!(limit.full_at.len() <= 1, "full buckets are forgotten");
    }

    #[test]
    fn a_flood_is_over_a_minute_after_its_last_message_beyond_the_limit() {
        let start = Instant::now();
        let building = Uuid::from_u128(1);
        let mut limit = Limit::new(1);
        allowed(&mut limit, building, 3_601, start);
        assert_eq!(limit.flooding(), 1);
        limit.look(start + Duration::from_secs(59));
        assert_eq!(limit.flooding(), 1);
        limit.look(start + Duration::from_secs(60));
        assert_eq!(limit.flooding(), 0);
    }
}
