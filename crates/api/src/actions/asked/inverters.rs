//! Power of all inverters, by percentage or by watts.

use super::TIMEOUT_S;
use crate::extract::Fields;
use domain::control::{Action, InverterPower, InverterTimeout};
use std::ops::RangeInclusive;

pub(super) const PERCENTAGE: &str = "inverters_set_power_percentage";
pub(super) const WATTS: &str = "inverters_set_power_watts";
pub(super) const TIMEOUT: &str = "inverters_set_power_timeout";
pub(super) const TIMEOUT_PERCENTAGE: &str = "inverters_set_power_timeout_percentage";
pub(super) const TIMEOUT_WATTS: &str = "inverters_set_power_timeout_watts";

const PERCENT: RangeInclusive<f64> = 0.0..=100.0;

/// Takes what the body says of inverters, if it says anything.
pub(super) fn take(fields: &mut Fields) -> Option<Action> {
    if ![
        PERCENTAGE,
        WATTS,
        TIMEOUT,
        TIMEOUT_PERCENTAGE,
        TIMEOUT_WATTS,
    ]
    .iter()
    .any(|name| fields.has(name))
    {
        return None;
    }
    tell_missing(fields);
    let power = take_power(fields, PERCENTAGE, WATTS);
    let timeout = take_timeout(fields);
    let fallback = take_power(fields, TIMEOUT_PERCENTAGE, TIMEOUT_WATTS);
    Some(Action::Inverters {
        power: power?,
        timeout: timeout?,
        fallback,
    })
}

/// A timeout needs a value, and a fallback needs a timeout and a value of its own kind.
fn tell_missing(fields: &mut Fields) {
    if !fields.has(PERCENTAGE) && !fields.has(WATTS) {
        if fields.has(TIMEOUT_PERCENTAGE) {
            fields.require(PERCENTAGE);
        } else if fields.has(TIMEOUT_WATTS) {
            fields.require(WATTS);
        } else {
            fields.require_one_of(&[PERCENTAGE, WATTS]);
        }
    }
}

fn take_power(fields: &mut Fields, percentage: &str, watts: &str) -> Option<InverterPower> {
    let percentage = fields.number_within(percentage, &PERCENT);
    let watts = fields.integer_within(watts, &super::WATTS);
    let percentage = percentage.map(InverterPower::Percentage);
    percentage.or(watts.map(InverterPower::Watts))
}

fn take_timeout(fields: &mut Fields) -> Option<InverterTimeout> {
    let has_fallback = fields.has(TIMEOUT_PERCENTAGE) || fields.has(TIMEOUT_WATTS);
    let cleared = fields.take_null(TIMEOUT);
    if fields.has(TIMEOUT) {
        let seconds = fields.integer_within(TIMEOUT, &TIMEOUT_S);
        return seconds.map(InverterTimeout::Seconds);
    }
    if has_fallback {
        let rule = "must be there, as a number, where a fallback is";
        fields.violate(TIMEOUT, "required", rule);
    }
    Some(if cleared {
        InverterTimeout::Cleared
    } else {
        InverterTimeout::Sticky
    })
}
