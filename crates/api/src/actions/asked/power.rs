//! Power of all batteries and of the grid connection: in one of two directions, for some time.

use super::{TIMEOUT_S, WATTS};
use crate::extract::Fields;
use crate::limits::LARGEST_INTEGER;
use domain::control::action::SHORTEST_DURATION_S;
use domain::control::{Action, BatteryPower, GridTargetPower};
use std::ops::RangeInclusive;

pub(super) const CHARGE: &str = "battery_set_power_charge_watts";
pub(super) const DISCHARGE: &str = "battery_set_power_discharge_watts";
pub(super) const BATTERY_TIMEOUT: &str = "battery_set_power_timeout";

pub(super) const DELIVERY: &str = "grid_target_delivery_watts";
pub(super) const RETURN_DELIVERY: &str = "grid_target_return_delivery_watts";
pub(super) const DURATION: &str = "grid_target_duration";
pub(super) const CANCEL: &str = "grid_target_cancel";

const DURATION_S: RangeInclusive<i32> = SHORTEST_DURATION_S..=LARGEST_INTEGER;

/// Takes what the body says of batteries, if it says anything.
pub(super) fn take_battery(fields: &mut Fields) -> Option<Action> {
    let names = [CHARGE, DISCHARGE, BATTERY_TIMEOUT];
    if !names.iter().any(|name| fields.has(name)) {
        return None;
    }
    if !fields.has(CHARGE) && !fields.has(DISCHARGE) {
        fields.require_one_of(&[CHARGE, DISCHARGE]);
    }
    let (charge, discharge, timeout_s) = take_directed(fields, names, &TIMEOUT_S);
    let charge = charge.map(BatteryPower::Charge);
    let power = charge.or(discharge.map(BatteryPower::Discharge));
    Some(Action::Battery {
        power: power?,
        timeout_s: timeout_s?,
    })
}

/// Takes what the body says of the grid target, if it says anything.
pub(super) fn take_grid_target(fields: &mut Fields) -> Option<Action> {
    let names = [DELIVERY, RETURN_DELIVERY, DURATION];
    let is_set = names.iter().any(|name| fields.has(name));
    if fields.has(CANCEL) {
        if fields.required_boolean(CANCEL) == Some(false) {
            fields.violate(CANCEL, "not_true", "must be true");
        }
        if !is_set {
            return Some(Action::GridTargetCancel);
        }
        fields.violate(CANCEL, "not_alone", "must stand alone");
    } else if !is_set {
        return None;
    } else if !fields.has(DELIVERY) && !fields.has(RETURN_DELIVERY) {
        fields.require_one_of(&[DELIVERY, RETURN_DELIVERY]);
    }
    let (delivery, back, duration_s) = take_directed(fields, names, &DURATION_S);
    let delivery = delivery.map(GridTargetPower::Delivery);
    let power = delivery.or(back.map(GridTargetPower::ReturnDelivery));
    Some(Action::GridTarget {
        power: power?,
        duration_s: duration_s?,
    })
}

/// Takes power in the one or the other direction, not in both, and the time that either needs.
fn take_directed(
    fields: &mut Fields,
    [one, other, time]: [&str; 3],
    bounds: &RangeInclusive<i32>,
) -> (Option<i32>, Option<i32>, Option<i32>) {
    if fields.has(one) && fields.has(other) {
        fields.violate(other, "not_together", &format!("cannot go with {one}"));
    }
    if fields.has(one) || fields.has(other) {
        fields.require(time);
    }
    (
        fields.integer_within(one, &WATTS),
        fields.integer_within(other, &WATTS),
        fields.integer_within(time, bounds),
    )
}
