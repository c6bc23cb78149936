//! Whether telemetry shows that a controller does what is desired of it.
//!
//! Setpoints are compared, not powers: a battery does as much as it can, an inverter as much as the
//! sun gives it. The tolerance is one percent of what is desired, at least 10 W: controllers hand
//! setpoints on to devices that round them.

use super::desired::{BatteryPower, Desired, InverterPower};
use crate::record::TelemetryRecord;
use uuid::Uuid;

/// The least tolerance, watt.
const LEAST_TOLERANCE_W: f64 = 10.0;

/// The tolerance as a share of what is desired.
const TOLERANCE_SHARE: f64 = 0.01;

/// The actions that a record shows to be done. It must have been made after the controller could
/// know of them.
#[must_use]
pub fn seen(desired: &Desired, record: &TelemetryRecord) -> Vec<Uuid> {
    let battery = desired.battery.filter(|battery| {
        let wished = match battery.power {
            BatteryPower::Charge(watts) => f64::from(watts),
            BatteryPower::Discharge(watts) => -f64::from(watts),
        };
        let shown = record.battery.and_then(|it| it.active_power_setpoint_w);
        shown.is_some_and(|shown| agrees(f64::from(shown), wished))
    });
    let inverters = desired.inverters.filter(|inverters| {
        let wished = match inverters.power {
            InverterPower::Watts(watts) => Some(-f64::from(watts)),
            InverterPower::Percentage(percentage) => {
                let rated = record.solar.and_then(|it| it.rated_power_w);
                rated.map(|rated| -f64::from(rated) * percentage / 100.0)
            }
        };
        let shown = record.solar.and_then(|it| it.active_power_setpoint_w);
        matches!((wished, shown), (Some(wished), Some(shown)) if agrees(f64::from(shown), wished))
    });
    let battery = battery.map(|it| it.action_uuid);
    let inverters = inverters.map(|it| it.action_uuid);
    battery.into_iter().chain(inverters).collect()
}

fn agrees(shown: f64, wished: f64) -> bool {
    (shown - wished).abs() <= (wished.abs() * TOLERANCE_SHARE).max(LEAST_TOLERANCE_W)
}
