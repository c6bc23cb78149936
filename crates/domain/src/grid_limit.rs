//! Grid limit occurrences: for how long a building's grid connection may carry how much, and until
//! when that may still be changed.

use crate::time::{Interval, Timestamp};
use serde::{Deserialize, Serialize};
use std::time::Duration;
use uuid::Uuid;

/// How far ahead an occurrence must start to be made or deleted, itself included
/// (`interface.md`, limits: deletion window).
pub const NOTICE: Duration = Duration::from_secs(15 * 60);

/// An occurrence ends not after the midnight (UTC) that begins the day this many days after today.
pub const HORIZON_DAYS: i64 = 8;

const DAY_MICROS: i64 = 24 * 60 * 60 * 1_000_000;

/// Longer than any occurrence can be: it starts at its creation at the earliest.
pub const LONGEST: Duration = Duration::from_secs(8 * 24 * 60 * 60);

/// An occurrence of the grid limit schedule: from `start` until before `end`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GridLimit {
    /// Identity.
    pub grid_limit_uuid: Uuid,
    /// A quarter hour.
    pub start: Timestamp,
    /// A quarter hour after `start`.
    pub end: Timestamp,
    /// Most power from the grid, watt; 0 or more.
    pub delivery_limit_watts: i32,
    /// Most power to the grid, watt; 0 or more.
    pub return_delivery_limit_watts: i32,
}

/// What an occurrence is asked to be. A part that could not be read is missing, so that the rules
/// about the others are still told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Asked {
    /// First moment.
    pub start: Option<Timestamp>,
    /// First moment after it.
    pub end: Option<Timestamp>,
    /// Watt.
    pub delivery_limit_watts: Option<i32>,
    /// Watt.
    pub return_delivery_limit_watts: Option<i32>,
}

/// A rule that an occurrence breaks (`decisions.md`, grid limits).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BrokenRule {
    /// The start is not on a quarter hour.
    StartOffQuarter,
    /// The start is not [`NOTICE`] ahead.
    StartTooEarly,
    /// The end is not on a quarter hour.
    EndOffQuarter,
    /// The end is not after the start.
    EndNotAfterStart,
    /// The end is beyond the horizon of [`HORIZON_DAYS`].
    EndTooLate,
    /// The delivery limit is below 0.
    DeliveryBelowZero,
    /// The return delivery limit is below 0.
    ReturnDeliveryBelowZero,
}

impl Asked {
    /// Makes the occurrence.
    ///
    /// # Errors
    /// With every rule that what is there breaks; with none of them where a part is missing.
    pub fn grant(
        &self,
        grid_limit_uuid: Uuid,
        now: Timestamp,
    ) -> Result<GridLimit, Vec<BrokenRule>> {
        let broken = self.broken_rules(now);
        if broken.is_empty()
            && let Some(start) = self.start
            && let Some(end) = self.end
            && let Some(delivery_limit_watts) = self.delivery_limit_watts
            && let Some(return_delivery_limit_watts) = self.return_delivery_limit_watts
        {
            return Ok(GridLimit {
                grid_limit_uuid,
                start,
                end,
                delivery_limit_watts,
                return_delivery_limit_watts,
            });
        }
        Err(broken)
    }

    fn broken_rules(&self, now: Timestamp) -> Vec<BrokenRule> {
        let off_quarter = |time: Timestamp| time.floor(Interval::Quarter) != time;
        let ends_first = |end| self.start.is_some_and(|start| end <= start);
        let below_zero = |watts: Option<i32>| watts.is_some_and(|watts| watts < 0);
        let rules = [
            (
                self.start.is_some_and(off_quarter),
                BrokenRule::StartOffQuarter,
            ),
            (
                self.start.is_some_and(|start| !is_changeable(start, now)),
                BrokenRule::StartTooEarly,
            ),
            (self.end.is_some_and(off_quarter), BrokenRule::EndOffQuarter),
            (
                self.end.is_some_and(ends_first),
                BrokenRule::EndNotAfterStart,
            ),
            (
                self.end.is_some_and(|end| end > horizon(now)),
                BrokenRule::EndTooLate,
            ),
            (
                below_zero(self.delivery_limit_watts),
                BrokenRule::DeliveryBelowZero,
            ),
            (
                below_zero(self.return_delivery_limit_watts),
                BrokenRule::ReturnDeliveryBelowZero,
            ),
        ];
        rules
            .into_iter()
            .filter_map(|(broken, rule)| broken.then_some(rule))
            .collect()
    }
}

/// The earliest start that may still be made or deleted.
#[must_use]
pub fn first_changeable(now: Timestamp) -> Timestamp {
    now.plus(NOTICE)
}

/// Whether an occurrence with this start may still be made or deleted.
#[must_use]
pub fn is_changeable(start: Timestamp, now: Timestamp) -> bool {
    start >= first_changeable(now)
}

/// The latest end that an occurrence may have: 00:00 UTC of today + 8 days.
#[must_use]
pub const fn horizon(now: Timestamp) -> Timestamp {
    let today = now.micros() - now.micros().rem_euclid(DAY_MICROS);
    Timestamp::from_micros(today.saturating_add(HORIZON_DAYS * DAY_MICROS))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 2023-11-14T00:00:00Z.
    const MIDNIGHT: i64 = 1_699_920_000;
    /// Noon.
    const NOW: i64 = MIDNIGHT + 12 * 3600;

    fn asked(start: i64, end: i64, delivery: i32, return_delivery: i32) -> Asked {
        Asked {
            start: Some(Timestamp::from_seconds(start)),
            end: Some(Timestamp::from_seconds(end)),
            delivery_limit_watts: Some(delivery),
            return_delivery_limit_watts: Some(return_delivery),
        }
    }

    fn broken(asked: Asked, now: Timestamp) -> Vec<BrokenRule> {
        asked.grant(Uuid::nil(), now).err().unwrap_or_default()
    }

    #[test]
    fn each_rule_has_its_edge() {
        use BrokenRule::*;
        let check = |asked: Asked, rules: &[BrokenRule]| {
            assert_eq!(
                broken(asked, Timestamp::from_seconds(NOW)),
                rules,
                "{asked:?}"
            );
        };
        check(asked(NOW + 900, NOW + 1800, 0, 0), &[]);
        check(asked(NOW + 900, NOW + 1800, i32::MAX, i32::MAX), &[]);
        check(asked(NOW, NOW + 1800, 0, 0), &[StartTooEarly]);
        check(asked(NOW + 1799, NOW + 2700, 0, 0), &[StartOffQuarter]);
        check(
            asked(NOW + 899, NOW + 900, 0, 0),
            &[StartOffQuarter, StartTooEarly],
        );
        check(asked(NOW + 900, NOW + 1801, 0, 0), &[EndOffQuarter]);
        check(asked(NOW + 900, NOW + 900, 0, 0), &[EndNotAfterStart]);
        check(asked(NOW + 900, NOW, 0, 0), &[EndNotAfterStart]);
        let horizon = MIDNIGHT + 8 * 86_400;
        check(asked(horizon - 900, horizon, 0, 0), &[]);
        check(asked(horizon - 900, horizon + 900, 0, 0), &[EndTooLate]);
        check(asked(NOW + 900, NOW + 1800, -1, 0), &[DeliveryBelowZero]);
        check(
            asked(NOW + 900, NOW + 1800, 0, -1),
            &[ReturnDeliveryBelowZero],
        );
        check(
            asked(NOW + 1, horizon + 1, -1, -1),
            &[
                StartOffQuarter,
                StartTooEarly,
                EndOffQuarter,
                EndTooLate,
                DeliveryBelowZero,
                ReturnDeliveryBelowZero,
            ],
        );
    }

    #[test]
    fn a_quarter_of_an_hour_ahead_is_far_enough_and_a_microsecond_less_is_not() {
        let start = Timestamp::from_seconds(NOW);
        let last = start.minus(NOTICE);
        assert!(is_changeable(start, last));
        assert!(!is_changeable(
            start,
            Timestamp::from_micros(last.micros() + 1)
        ));
        assert!(is_changeable(
            start,
            Timestamp::from_micros(last.micros() - 1)
        ));
    }

    #[test]
    fn the_horizon_moves_at_midnight() {
        let horizon_at = |seconds| horizon(Timestamp::from_seconds(seconds)).seconds();
        assert_eq!(horizon_at(MIDNIGHT - 1), MIDNIGHT + 7 * 86_400);
        assert_eq!(horizon_at(MIDNIGHT), MIDNIGHT + 8 * 86_400);
        assert_eq!(horizon_at(MIDNIGHT + 86_399), MIDNIGHT + 8 * 86_400);
    }

    #[test]
    fn what_could_not_be_read_makes_no_occurrence_and_hides_no_rule() {
        let now = Timestamp::from_seconds(NOW);
        let mut partial = asked(NOW + 900, NOW + 1800, 0, 0);
        partial.start = None;
        assert_eq!(partial.grant(Uuid::nil(), now), Err(Vec::new()));
        partial.end = Some(Timestamp::from_seconds(NOW + 1));
        assert_eq!(broken(partial, now), [BrokenRule::EndOffQuarter]);
    }

    #[test]
    fn nothing_overflows_at_the_ends_of_what_a_body_can_say() {
        for seconds in [i32::MIN, i32::MAX] {
            let time = Timestamp::from_seconds(seconds.into());
            let all = Asked {
                start: Some(time),
                end: Some(time),
                delivery_limit_watts: Some(i32::MIN),
                return_delivery_limit_watts: Some(i32::MIN),
            };
            assert!(!broken(all, Timestamp::from_seconds(NOW)).is_empty());
        }
    }

    #[test]
    fn no_occurrence_is_as_long_as_the_longest() {
        let earliest_start = Timestamp::from_seconds(MIDNIGHT).plus(NOTICE);
        let latest_end = horizon(Timestamp::from_seconds(MIDNIGHT));
        let micros = i64::try_from(LONGEST.as_micros()).unwrap();
        assert!(latest_end.micros_since(earliest_start) < micros);
    }
}
