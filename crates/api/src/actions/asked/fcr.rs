//! A block of frequency containment reserve, planned or cancelled.

use super::WATTS;
use crate::extract::Fields;
use domain::control::Action;
use domain::control::fcr::{BrokenRule, HORIZON, broken_rules};
use domain::time::Timestamp;

pub(super) const CONTAINER: &str = "fcr_planning";
const POWER: &str = "power";
const START: &str = "start_timestamp";
const STOP: &str = "stop_timestamp";
const ENABLED: &str = "enabled";

const SECONDS_PER_DAY: u64 = 24 * 60 * 60;

/// Takes what the body says of a block, if it says anything.
pub(super) fn take(fields: &mut Fields, now: Timestamp) -> Option<Action> {
    let mut planning = fields.object(CONTAINER)?;
    let seconds = |seconds: i32| Timestamp::from_seconds(seconds.into());
    let power_watts = planning.required_integer_within(POWER, &WATTS);
    let start = planning.required_integer(START).map(seconds);
    let stop = planning.required_integer(STOP).map(seconds);
    let enabled = planning.required_boolean(ENABLED);
    for broken in broken_rules(start, stop, now) {
        let (name, code, rule) = told(broken);
        planning.violate(name, code, &rule);
    }
    fields.close(planning);
    let (start, stop, power_watts) = (start?, stop?, power_watts?);
    Some(if enabled? {
        Action::FcrPlan {
            start,
            stop,
            power_watts,
        }
    } else {
        Action::FcrCancel { start }
    })
}

/// The property that a rule names last, its code and its words.
fn told(broken: BrokenRule) -> (&'static str, &'static str, String) {
    match broken {
        BrokenRule::StartNotAhead => (START, "not_ahead", "must lie in the future".to_owned()),
        BrokenRule::StartTooFar => {
            let days = HORIZON.as_secs() / SECONDS_PER_DAY;
            let rule = format!("must be at most {days} days ahead");
            (START, "too_far_ahead", rule)
        }
        BrokenRule::StartOffBoundary => {
            let rule = "must be 00:00, 04:00, 08:00, 12:00, 16:00 or 20:00 in Amsterdam";
            (START, "not_a_block_start", rule.to_owned())
        }
        BrokenRule::StopOffBoundary => {
            let rule = "must be the end of the block, the next of the hours at which blocks start";
            (STOP, "not_the_block_end", rule.to_owned())
        }
    }
}
