//! What the query of a meter reading asks for.

use crate::error::Problem;
use crate::extract::{BrokenRule, Parameters, epoch_seconds};
use domain::calendar::MinInterval;
use domain::time::Timestamp;

/// A checked query.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Asked {
    /// The moment whose interval is asked for; `None` for the last processed one.
    pub(crate) moment: Option<Timestamp>,
    /// Its length.
    pub(crate) interval: MinInterval,
}

impl Asked {
    /// Checks the query; all violations are told at once.
    pub(crate) fn of(parameters: &Parameters) -> Result<Self, Problem> {
        let mut violations = Vec::new();
        let moment = parameters.once("timestamp", &mut violations, epoch_seconds);
        let interval = parameters.once("min_interval", &mut violations, interval);
        if violations.is_empty() {
            Ok(Self {
                moment,
                interval: interval.unwrap_or(MinInterval::Day),
            })
        } else {
            Err(Problem::Invalid(violations))
        }
    }
}

fn interval(text: &str) -> Result<MinInterval, BrokenRule> {
    let rule = "can only be \"minute\", \"quarter\" or \"day\"";
    MinInterval::parse(text).ok_or(("not_a_choice", rule))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(query: &str) -> Result<Asked, Problem> {
        Asked::of(&Parameters::parse(query))
    }

    #[test]
    fn a_moment_and_an_interval_may_be_asked_for() {
        let check = |query: &str, seconds: Option<i64>, interval| {
            let moment = seconds.map(Timestamp::from_seconds);
            assert_eq!(asked(query), Ok(Asked { moment, interval }), "{query}");
        };
        check("", None, MinInterval::Day);
        check("x=1", None, MinInterval::Day);
        check("timestamp=0", Some(0), MinInterval::Day);
        check(
            "timestamp=1700000000&min_interval=minute",
            Some(1_700_000_000),
            MinInterval::Minute,
        );
        check("min_interval=quarter", None, MinInterval::Quarter);
        check("min_interval=day", None, MinInterval::Day);
        check("timestamp=-5", Some(-5), MinInterval::Day);
        check(
            "timestamp=99999999999",
            Some(99_999_999_999),
            MinInterval::Day,
        );
    }

    #[test]
    fn every_broken_rule_is_told_with_its_parameter() {
        let check = |query: &str, expected: &[(&str, &str)]| {
            let Err(Problem::Invalid(violations)) = asked(query) else {
                panic!("{query} is accepted");
            };
            let told: Vec<_> = violations
                .iter()
                .map(|it| (it.field.as_str(), it.code))
                .collect();
            assert_eq!(told, expected, "{query}");
        };
        for text in [
            "",
            "x",
            "1.5",
            "1700000000.0",
            "1e9",
            "0x10",
            "%201700000000",
            "NaN",
            "99999999999999999999",
        ] {
            check(
                &format!("timestamp={text}"),
                &[("/timestamp", "not_an_integer")],
            );
        }
        for text in ["100000000000", "1700000000000", "-100000000000"] {
            check(
                &format!("timestamp={text}"),
                &[("/timestamp", "out_of_range")],
            );
        }
        check("timestamp=1&timestamp=1", &[("/timestamp", "repeated")]);
        for text in ["", "hour", "Day", "minute,day"] {
            check(
                &format!("min_interval={text}"),
                &[("/min_interval", "not_a_choice")],
            );
        }
        check(
            "timestamp=x&min_interval=day&min_interval=day",
            &[
                ("/timestamp", "not_an_integer"),
                ("/min_interval", "repeated"),
            ],
        );
    }
}
