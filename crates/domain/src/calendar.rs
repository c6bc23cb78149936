//! Days of a timezone, and the intervals of meter readings. The timezone rules where a day starts;
//! minutes and quarters are the same everywhere (`decisions.md`).

use crate::time::{Interval, Timestamp};
use jiff::ToSpan;
use jiff::civil::{Date, time};
use jiff::tz::{AmbiguousOffset, TimeZone};
use std::ops::Range;

const MICROS_PER_DAY: i64 = 86_400 * 1_000_000;

/// An IANA timezone with its rules, which come with the program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Timezone(TimeZone);

impl Timezone {
    /// Reads an IANA name such as `Europe/Amsterdam`; `None` when there is no such timezone.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        TimeZone::get(name).ok().map(Self)
    }

    /// The day that contains a moment, from its first instant to that of the next day: also where
    /// midnight is skipped, or comes twice.
    #[must_use]
    pub fn day_of(&self, moment: Timestamp) -> Range<Timestamp> {
        self.civil_day_of(moment)
            .unwrap_or_else(|| day_beyond_calendars(moment))
    }

    /// The day that is `days` before the one that contains a moment.
    #[must_use]
    pub fn day_before(&self, moment: Timestamp, days: u32) -> Range<Timestamp> {
        let earlier = |day: Range<Timestamp>, _| {
            let last_instant = day.start.micros().saturating_sub(1);
            self.day_of(Timestamp::from_micros(last_instant))
        };
        (0..days).fold(self.day_of(moment), earlier)
    }

    /// For a moment at which clocks show a whole hour that `hours` divides: the next such moment.
    /// `None` for any other one. Where clocks skip it, the moment at which they do so.
    #[must_use]
    pub fn next_whole_hours(&self, moment: Timestamp, hours: i8) -> Option<Timestamp> {
        let instant = jiff::Timestamp::from_microsecond(moment.micros()).ok()?;
        let clock = self.0.to_datetime(instant);
        let is_whole = clock.hour() % hours == 0 && clock.time() == time(clock.hour(), 0, 0, 0);
        let next = clock.checked_add(i64::from(hours).hours()).ok()?;
        let next = self.0.to_ambiguous_timestamp(next).compatible().ok()?;
        is_whole.then(|| Timestamp::from_micros(next.as_microsecond()))
    }

    /// `None` where the calendar ends.
    fn civil_day_of(&self, moment: Timestamp) -> Option<Range<Timestamp>> {
        let instant = jiff::Timestamp::from_microsecond(moment.micros()).ok()?;
        let mut date = self.0.to_datetime(instant).date();
        loop {
            let next = date.tomorrow().ok()?;
            let day = self.start_of(date)?..self.start_of(next)?;
            // Where clocks go back over midnight, the rest of the old date belongs to the new day.
            if moment < day.end {
                return Some(day);
            }
            date = next;
        }
    }

    /// The first instant of a date.
    fn start_of(&self, date: Date) -> Option<Timestamp> {
        let midnight = self.0.to_ambiguous_timestamp(date.at(0, 0, 0, 0));
        let start = match midnight.offset() {
            AmbiguousOffset::Unambiguous { .. } | AmbiguousOffset::Fold { .. } => {
                midnight.earlier().ok()?
            }
            // Clocks leap over midnight: the day starts where they do so.
            AmbiguousOffset::Gap { .. } => {
                let behind = midnight.later().ok()?;
                let behind = jiff::Timestamp::from_microsecond(behind.as_microsecond() + 1).ok()?;
                self.0.preceding(behind).next()?.timestamp()
            }
        };
        Some(Timestamp::from_micros(start.as_microsecond()))
    }
}

/// Days of UTC where no calendar reaches: nothing was ever measured there.
fn day_beyond_calendars(moment: Timestamp) -> Range<Timestamp> {
    let into_day = moment.micros().rem_euclid(MICROS_PER_DAY);
    let start = moment.micros().saturating_sub(into_day);
    Timestamp::from_micros(start)..Timestamp::from_micros(start.saturating_add(MICROS_PER_DAY))
}

/// The intervals in which meter readings are asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MinInterval {
    /// Sixty seconds.
    Minute,
    /// Fifteen minutes.
    Quarter,
    /// A day of the building's timezone.
    Day,
}

impl MinInterval {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Minute, Self::Quarter, Self::Day];

    /// The word that the interface uses.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Minute => "minute",
            Self::Quarter => "quarter",
            Self::Day => "day",
        }
    }

    /// Reads the word that the interface uses.
    #[must_use]
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL
            .into_iter()
            .find(|interval| interval.as_str() == word)
    }

    /// The interval that contains a moment: the moment rounded down, and what comes before the next
    /// one.
    #[must_use]
    pub fn containing(self, moment: Timestamp, timezone: &Timezone) -> Range<Timestamp> {
        let same_everywhere = match self {
            Self::Minute => Interval::Minute,
            Self::Quarter => Interval::Quarter,
            Self::Day => return timezone.day_of(moment),
        };
        let start = moment.floor(same_everywhere);
        let end = start.micros().saturating_add(same_everywhere.micros());
        start..Timestamp::from_micros(end)
    }
}

#[cfg(test)]
mod tests;
