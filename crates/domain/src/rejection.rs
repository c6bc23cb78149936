//! Why a message is refused: data, not a failure.

use crate::time::Timestamp;
use std::time::Duration;

/// How far ahead of the moment of receipt a record's `time` may be.
pub const FUTURE_TOLERANCE: Duration = Duration::from_secs(300);

/// The reasons for which a message becomes a dead letter. The first that holds is told: of a message from
/// a building that is beyond its limit `over_limit`, then those about its content in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Reason {
    /// The topic's building is not a lower-case uuid with hyphens.
    UnknownTopic,
    /// Over 64 KiB.
    TooLarge,
    /// Not one UTF-8 JSON document.
    NotJson,
    /// JSON that the payload's schema refuses.
    Schema,
    /// Valid, but an integer beyond ±2,147,483,647 or a number that a double cannot hold.
    OutOfRange,
    /// `time` more than five minutes ahead of the moment of receipt.
    TimeInFuture,
    /// The building is not in the database.
    UnknownBuilding,
    /// `time` further behind the moment of receipt than records are kept.
    TooOld,
    /// The sensor is not in the database, another building's, or takes no such value.
    UnknownSensor,
    /// The action is not in the database, or another building's.
    UnknownAction,
    /// The database does not take it, and takes what came with it: told in its own words.
    NotStorable,
    /// Beyond what one building may send; its content was not looked at.
    OverLimit,
}

impl Reason {
    /// All of them, in the order of their declaration.
    pub const ALL: [Self; 12] = [
        Self::UnknownTopic,
        Self::TooLarge,
        Self::NotJson,
        Self::Schema,
        Self::OutOfRange,
        Self::TimeInFuture,
        Self::UnknownBuilding,
        Self::TooOld,
        Self::UnknownSensor,
        Self::UnknownAction,
        Self::NotStorable,
        Self::OverLimit,
    ];

    /// The stable code that headers, metrics and commands use.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::UnknownTopic => "unknown_topic",
            Self::TooLarge => "too_large",
            Self::NotJson => "not_json",
            Self::Schema => "schema",
            Self::OutOfRange => "out_of_range",
            Self::TimeInFuture => "time_in_future",
            Self::UnknownBuilding => "unknown_building",
            Self::TooOld => "too_old",
            Self::UnknownSensor => "unknown_sensor",
            Self::UnknownAction => "unknown_action",
            Self::NotStorable => "not_storable",
            Self::OverLimit => "over_limit",
        }
    }

    /// Reads the stable code.
    #[must_use]
    pub fn parse(code: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|reason| reason.as_str() == code)
    }
}

/// A refusal: the reason, the place in the payload and the rule that was broken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rejection {
    /// Why.
    pub reason: Reason,
    /// JSON pointer to the place (of a missing or unknown property: of the property itself); empty
    /// for the whole payload.
    pub pointer: String,
    /// The rule, for people.
    pub detail: String,
}

impl Rejection {
    /// A refusal of the place that `pointer` names.
    #[must_use]
    pub fn new(reason: Reason, pointer: impl Into<String>, detail: impl Into<String>) -> Self {
        Self {
            reason,
            pointer: pointer.into(),
            detail: detail.into(),
        }
    }
}

/// Refuses a record whose `time` is more than [`FUTURE_TOLERANCE`] ahead of its receipt.
///
/// # Errors
/// `time_in_future` at `/time`.
pub fn refuse_future(time: Timestamp, received_at: Timestamp) -> Result<(), Rejection> {
    if time > received_at.plus(FUTURE_TOLERANCE) {
        return Err(Rejection::new(
            Reason::TimeInFuture,
            "/time",
            "time is more than 5 minutes ahead of the moment of receipt",
        ));
    }
    Ok(())
}

/// Refuses a record whose `time` is further behind its receipt than records are kept.
///
/// # Errors
/// `too_old` at `/time`.
pub fn refuse_old(
    time: Timestamp,
    received_at: Timestamp,
    raw_retention: Duration,
) -> Result<(), Rejection> {
    if time < received_at.minus(raw_retention) {
        return Err(Rejection::new(
            Reason::TooOld,
            "/time",
            format!(
                "time is further behind the moment of receipt than records are kept ({} seconds)",
                raw_retention.as_secs()
            ),
        ));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn five_minutes_ahead_is_the_last_accepted_time() {
        let now = Timestamp::from_seconds(1_700_000_000);
        let last = now.plus(FUTURE_TOLERANCE);
        assert!(refuse_future(last, now).is_ok());
        let next = Timestamp::from_micros(last.micros() + 1);
        assert_eq!(
            refuse_future(next, now).unwrap_err().reason,
            Reason::TimeInFuture
        );
    }

    #[test]
    fn a_record_as_old_as_records_are_kept_is_the_oldest_accepted() {
        let now = Timestamp::from_seconds(1_700_000_000);
        let kept = Duration::from_secs(49 * 3600);
        let oldest = now.minus(kept);
        assert!(refuse_old(oldest, now, kept).is_ok());
        let older = Timestamp::from_micros(oldest.micros() - 1);
        assert_eq!(
            refuse_old(older, now, kept).unwrap_err().reason,
            Reason::TooOld
        );
    }

    #[test]
    fn every_reason_is_read_back_from_its_code() {
        for reason in Reason::ALL {
            assert_eq!(Reason::parse(reason.as_str()), Some(reason));
        }
    }
}
