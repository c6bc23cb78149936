//! What a request about grid limits asks for.

use crate::error::{Problem, Violation};
use crate::extract::{
    BrokenRule as BrokenParameter, Fields, Parameters, epoch_seconds, parse_uuid,
};
use crate::limits::LARGEST_INTEGER;
use domain::grid_limit::{Asked, BrokenRule, GridLimit, HORIZON_DAYS, LONGEST};
use domain::time::Timestamp;
use store::AskedGridLimits;
use uuid::Uuid;

const START: &str = "start_timestamp";
const END: &str = "end_timestamp";
const DELIVERY: &str = "delivery_limit_watts";
const RETURN_DELIVERY: &str = "return_delivery_limit_watts";

/// Reads the body of a creation, and makes the occurrence if it breaks no rule.
pub(super) fn creation(
    mut fields: Fields,
    grid_limit_uuid: Uuid,
    now: Timestamp,
) -> Result<GridLimit, Problem> {
    let seconds = |seconds: i32| Timestamp::from_seconds(seconds.into());
    let asked = Asked {
        start: fields.required_integer(START).map(seconds),
        end: fields.required_integer(END).map(seconds),
        delivery_limit_watts: fields.required_integer(DELIVERY),
        return_delivery_limit_watts: fields.required_integer(RETURN_DELIVERY),
    };
    let granted = asked.grant(grid_limit_uuid, now);
    for broken in granted.as_ref().err().into_iter().flatten() {
        let (name, code, rule) = told(*broken);
        fields.violate(name, code, &rule);
    }
    fields.finish(granted.ok())
}

/// The property that a rule names last, its code and its words.
fn told(broken: BrokenRule) -> (&'static str, &'static str, String) {
    let quarter = || "must be on a quarter hour".to_owned();
    let negative = || "must be 0 or more".to_owned();
    match broken {
        BrokenRule::StartOffQuarter => (START, "not_a_quarter_hour", quarter()),
        BrokenRule::StartTooEarly => {
            let rule = "must be at least 15 minutes ahead".to_owned();
            (START, "too_early", rule)
        }
        BrokenRule::EndOffQuarter => (END, "not_a_quarter_hour", quarter()),
        BrokenRule::EndNotAfterStart => (END, "not_after_start", format!("must be after {START}")),
        BrokenRule::EndTooLate => {
            let rule = format!("must not be after 00:00 UTC of today + {HORIZON_DAYS} days");
            (END, "too_late", rule)
        }
        BrokenRule::DeliveryBelowZero => (DELIVERY, "below_minimum", negative()),
        BrokenRule::ReturnDeliveryBelowZero => (RETURN_DELIVERY, "below_minimum", negative()),
    }
}

/// The query of the list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Listed {
    from: Option<Timestamp>,
    until: Option<Timestamp>,
    /// The last occurrence of the page before.
    cursor: Option<(Timestamp, Uuid)>,
}

impl Listed {
    /// Reads `from`, `until` and `cursor`.
    pub(crate) fn of(parameters: &Parameters) -> Result<Self, Problem> {
        let mut violations: Vec<Violation> = Vec::new();
        let from = parameters.once("from", &mut violations, epoch_seconds);
        let until = parameters.once("until", &mut violations, epoch_seconds);
        let cursor = parameters.once("cursor", &mut violations, cursor);
        if violations.is_empty() {
            Ok(Self {
                from,
                until,
                cursor,
            })
        } else {
            Err(Problem::Invalid(violations))
        }
    }

    /// What the store is asked. Without `from`, all that have not ended: those are not older than the
    /// longest occurrence, so that the walk begins there and not at the first that ever was.
    pub(super) fn asked(&self, now: Timestamp, limit: usize) -> AskedGridLimits {
        let bound = |seconds: i32| Timestamp::from_seconds(seconds.into());
        let begin = (self.from.unwrap_or(now.minus(LONGEST)), Uuid::nil());
        AskedGridLimits {
            // No occurrence is called nil, so the one with a start of `from` is behind this place.
            after: self.cursor.map_or(begin, |cursor| cursor.max(begin)),
            // Every time of an occurrence came in a body, as an integer within the bound.
            starting_before: self.until.unwrap_or(bound(LARGEST_INTEGER)),
            ending_after: if self.from.is_some() {
                bound(-LARGEST_INTEGER)
            } else {
                now
            },
            limit: i64::try_from(limit).unwrap_or(i64::MAX),
        }
    }

    /// The query of the page behind this occurrence.
    pub(super) fn behind(&self, last: &GridLimit) -> String {
        let bound = |name: &str, time: Option<Timestamp>| {
            time.map_or_else(String::new, |time| format!("{name}={}&", time.seconds()))
        };
        let (from, until) = (bound("from", self.from), bound("until", self.until));
        let (start, uuid) = (last.start.seconds(), last.grid_limit_uuid);
        format!("{from}{until}cursor={start}_{uuid}")
    }
}

/// A place in the order of the list: start in epoch seconds, `_`, uuid.
fn cursor(text: &str) -> Result<(Timestamp, Uuid), BrokenParameter> {
    let place = text.split_once('_').and_then(|(start, uuid)| {
        let start = epoch_seconds(start).ok()?;
        Some((start, parse_uuid(uuid)?))
    });
    place.ok_or(("not_a_cursor", "must be one of a link to a next page"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::extract::FromRequestParts;
    use axum::http::Request;

    const LAST: &str = "aaaaaaaa-0000-4000-8000-000000000000";

    async fn listed(query: &str) -> Result<Listed, Vec<(String, &'static str)>> {
        let request = Request::get(format!("/?{query}")).body(()).unwrap();
        let (mut parts, ()) = request.into_parts();
        let parameters = Parameters::from_request_parts(&mut parts, &())
            .await
            .unwrap();
        Listed::of(&parameters).map_err(|problem| {
            let Problem::Invalid(violations) = problem else {
                panic!("{problem:?}");
            };
            let told = violations.into_iter().map(|it| (it.field, it.code));
            told.collect()
        })
    }

    #[tokio::test]
    async fn a_malformed_parameter_is_named() {
        let check = async |query: &str, expected: &[(&str, &str)]| {
            let told = listed(query).await.unwrap_err();
            let told: Vec<_> = told
                .iter()
                .map(|(field, code)| (field.as_str(), *code))
                .collect();
            assert_eq!(told, expected, "{query}");
        };
        for odd in ["", "x", "1.5", "1e9", "%00", "99999999999999999999"] {
            check(&format!("from={odd}"), &[("/from", "not_an_integer")]).await;
            check(&format!("until={odd}"), &[("/until", "not_an_integer")]).await;
        }
        for odd in ["1700000000000", "-100000000000"] {
            check(&format!("from={odd}"), &[("/from", "out_of_range")]).await;
            check(&format!("until={odd}"), &[("/until", "out_of_range")]).await;
        }
        check("from=1&from=1", &[("/from", "repeated")]).await;
        let odd = [
            "".to_owned(),
            "1".to_owned(),
            LAST.to_owned(),
            format!("_{LAST}"),
            format!("1_{LAST}_"),
            format!("x_{LAST}"),
        ];
        for odd in odd {
            check(&format!("cursor={odd}"), &[("/cursor", "not_a_cursor")]).await;
        }
        check(
            "cursor=x&until=y&from=z",
            &[
                ("/from", "not_an_integer"),
                ("/until", "not_an_integer"),
                ("/cursor", "not_a_cursor"),
            ],
        )
        .await;
    }

    #[tokio::test]
    async fn the_next_page_has_the_same_bounds_and_begins_behind_the_last_occurrence() {
        let last = GridLimit {
            grid_limit_uuid: parse_uuid(LAST).unwrap(),
            start: Timestamp::from_seconds(900),
            end: Timestamp::from_seconds(1800),
            delivery_limit_watts: 0,
            return_delivery_limit_watts: 0,
        };
        for query in ["", "from=-5&", "until=7&", "from=3&until=4000&"] {
            let first = listed(query).await.unwrap();
            let next = first.behind(&last);
            assert_eq!(next, format!("{query}cursor=900_{LAST}"));
            let next = listed(&next).await.unwrap();
            let now = Timestamp::from_seconds(1_000);
            let (first, next) = (first.asked(now, 5), next.asked(now, 5));
            assert_eq!(next.after, (last.start, last.grid_limit_uuid));
            assert_eq!(
                (next.starting_before, next.ending_after),
                (first.starting_before, first.ending_after)
            );
        }
    }
}
