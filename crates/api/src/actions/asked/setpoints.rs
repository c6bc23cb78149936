//! Setpoints of the building management system, and their kill switch.

use super::sockets::take_sensor;
use super::{Found, KillSwitch};
use crate::extract::Fields;
use domain::control::action::LONGEST_KILL_SWITCH_MINUTES;
use domain::control::state::MOST_ENTRIES;
use domain::control::{Action, SetpointValue};
use domain::sensor::SensorKind;
use std::collections::HashSet;
use std::ops::RangeInclusive;

pub(super) const CONTAINER: &str = "setpoints_update";
const MINUTES: &str = "fallback_timeout_minutes";
const VALUES: &str = "setpoints";
const FALLBACK: &str = "fallback_setpoints";
const VALUE: &str = "value";

const KILL_SWITCH_MINUTES: RangeInclusive<i32> = 0..=LONGEST_KILL_SWITCH_MINUTES;

/// Takes what the body says of setpoints, if it says anything.
pub(super) fn take(fields: &mut Fields, found: &mut Found) -> Option<Action> {
    let mut update = fields.object(CONTAINER)?;
    let [has_minutes, has_values, has_fallback] =
        [MINUTES, VALUES, FALLBACK].map(|it| update.has(it));
    if !(has_minutes || has_values || has_fallback) {
        update.require_one_of(&[MINUTES, VALUES, FALLBACK]);
    }
    let fallback_timeout_minutes = update.integer_within(MINUTES, &KILL_SWITCH_MINUTES);
    let values = take_values(&mut update, VALUES, found);
    let fallback = take_values(&mut update, FALLBACK, found);
    // What could not be read breaks a rule already, and tells nothing of the kill switch.
    let minutes_are_known = has_minutes == fallback_timeout_minutes.is_some();
    let fallback_is_known = has_fallback == fallback.is_some();
    if minutes_are_known && fallback_is_known {
        found.kill_switch = Some(KillSwitch {
            fallback_timeout_minutes,
            fallback: fallback.clone(),
            place: update.pointer(FALLBACK),
        });
    }
    fields.close(update);
    Some(Action::Setpoints {
        fallback_timeout_minutes,
        values,
        fallback,
    })
}

/// A list of values, none for the same sensor; `None` also where an item cannot be read.
fn take_values(update: &mut Fields, name: &str, found: &mut Found) -> Option<Vec<SetpointValue>> {
    let items = update.objects(name, &(0..=MOST_ENTRIES))?;
    let mut seen = HashSet::with_capacity(items.len());
    let mut take_value = |mut item: Fields| {
        let sensor = take_sensor(&mut item, SensorKind::Setpoint, &mut seen, found);
        let value = item.required_number(VALUE);
        update.close(item);
        let (sensor_uuid, value) = sensor.zip(value)?;
        Some(SetpointValue { sensor_uuid, value })
    };
    // Every item is looked at, whatever is wrong with those before.
    let values: Vec<_> = items.into_iter().map(|it| take_value(it?)).collect();
    values.into_iter().collect()
}
