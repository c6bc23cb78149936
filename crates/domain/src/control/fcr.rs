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
