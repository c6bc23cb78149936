//! Blocks of frequency containment reserve: four hours of a day in Amsterdam, from 00:00, 04:00,
//! 08:00, 12:00, 16:00 or 20:00 local time to the next of these. So in the nights in which the clocks
//! change, the first block has three or five hours (`decisions.md`, actions).

use crate::calendar::Timezone;
use crate::time::Timestamp;
use std::time::Duration;

const HOURS_OF_A_BLOCK: i8 = 4;

/// How far ahead a block may start.
pub const HORIZON: Duration = Duration::from_secs(400 * 24 * 3600);

/// A rule that a block breaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BrokenRule {
    /// The start does not lie in the future.
    StartNotAhead,
    /// The start is beyond [`HORIZON`].
    StartTooFar,
    /// The start is not 00:00, 04:00, 08:00, 12:00, 16:00 or 20:00 in Amsterdam.
    StartOffBoundary,
    /// The stop is not the boundary behind the start.
    StopOffBoundary,
}

/// Every rule that a block breaks; those about a part that could not be read are left out.
///
/// # Panics
/// Never: the timezone's rules come with the program.
#[must_use]
pub fn broken_rules(
    start: Option<Timestamp>,
    stop: Option<Timestamp>,
    now: Timestamp,
) -> Vec<BrokenRule> {
    let mut broken = Vec::new();
    let next = start.map(next_boundary);
    if let Some(start) = start {
        if start <= now {
            broken.push(BrokenRule::StartNotAhead);
        }
        if start > now.plus(HORIZON) {
            broken.push(BrokenRule::StartTooFar);
        }
        if next == Some(None) {
            broken.push(BrokenRule::StartOffBoundary);
        }
    }
    // Where the start is none, only a stop that lies on no boundary at all is wrong for sure.
    let stop_is_wrong = match (next.flatten(), stop) {
        (Some(next), Some(stop)) => stop != next,
        (None, Some(stop)) => next_boundary(stop).is_none(),
        (_, None) => false,
    };
    if stop_is_wrong {
        broken.push(BrokenRule::StopOffBoundary);
    }
    broken
}

/// The boundary behind a boundary; `None` for what is none.
#[must_use]
pub fn next_boundary(boundary: Timestamp) -> Option<Timestamp> {
    let amsterdam = Timezone::parse("Europe/Amsterdam")?;
    amsterdam.next_whole_hours(boundary, HOURS_OF_A_BLOCK)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> Timestamp {
        let instant: jiff::Timestamp = text.parse().unwrap();
        Timestamp::from_micros(instant.as_microsecond())
    }

    #[test]
    fn blocks_have_four_hours_and_three_or_five_in_the_nights_in_which_clocks_change() {
        let check = |start: &str, hours: u64| {
            let start = at(start);
            let stop = start.plus(Duration::from_secs(hours * 3_600));
            assert_eq!(next_boundary(start), Some(stop), "{start:?}");
        };
        // Winter: Amsterdam is an hour ahead.
        check("2023-11-14T23:00:00Z", 4);
        check("2023-11-15T03:00:00Z", 4);
        check("2023-11-15T19:00:00Z", 4);
        // Summer: two hours.
        check("2023-07-14T22:00:00Z", 4);
        check("2023-07-15T18:00:00Z", 4);
        // At 01:00 UTC clocks go from 02:00 to 03:00, and back from 03:00 to 02:00.
        check("2024-03-30T23:00:00Z", 3);
        check("2024-03-31T02:00:00Z", 4);
        check("2024-10-26T22:00:00Z", 5);
        check("2024-10-27T03:00:00Z", 4);
    }

    #[test]
    fn other_moments_are_no_boundary() {
        for text in [
            "2023-11-14T22:00:00Z",
            "2023-11-14T23:00:00.000001Z",
            "2023-11-14T23:00:01Z",
            "2023-11-14T23:01:00Z",
            "2024-03-31T03:00:00Z",
            "2024-10-27T02:00:00Z",
        ] {
            assert_eq!(next_boundary(at(text)), None, "{text}");
        }
    }

    #[test]
    fn each_rule_has_its_edge() {
        use BrokenRule::*;
        let start = at("2023-11-14T23:00:00Z");
        let stop = at("2023-11-15T03:00:00Z");
        let second = Duration::from_secs(1);
        let check = |start, stop, now, expected: &[BrokenRule]| {
            assert_eq!(
                broken_rules(start, stop, now),
                expected,
                "{start:?} {now:?}"
            );
        };
        check(Some(start), Some(stop), start.minus(second), &[]);
        check(Some(start), Some(stop), start, &[StartNotAhead]);
        check(Some(start), Some(stop), start.minus(HORIZON), &[]);
        check(
            Some(start),
            Some(stop),
            start.minus(HORIZON).minus(second),
            &[StartTooFar],
        );
        let off = start.plus(second);
        check(Some(off), Some(stop), start, &[StartOffBoundary]);
        check(
            Some(off),
            Some(off),
            start,
            &[StartOffBoundary, StopOffBoundary],
        );
        check(
            Some(start),
            Some(start),
            start.minus(second),
            &[StopOffBoundary],
        );
        check(Some(start), None, start.minus(second), &[]);
        check(None, Some(stop), start, &[]);
        check(None, Some(off), start, &[StopOffBoundary]);
    }
}
