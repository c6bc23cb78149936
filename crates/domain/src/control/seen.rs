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

/// What a realtime record shows of setpoints, with its signs: charging positive, production negative.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Shown {
    /// `battery.active_power_setpoint_w`
    pub battery_setpoint_w: Option<i32>,
    /// `solar.active_power_setpoint_w`
    pub solar_setpoint_w: Option<i32>,
    /// `solar.rated_power_w`
    pub solar_rated_w: Option<i32>,
}

impl From<&TelemetryRecord> for Shown {
    fn from(record: &TelemetryRecord) -> Self {
        Self {
            battery_setpoint_w: record.battery.and_then(|it| it.active_power_setpoint_w),
            solar_setpoint_w: record.solar.and_then(|it| it.active_power_setpoint_w),
            solar_rated_w: record.solar.and_then(|it| it.rated_power_w),
        }
    }
}

/// The actions that a record shows to be done. It must have been made after the controller could
/// know of them.
#[must_use]
pub fn seen(desired: &Desired, shown: Shown) -> Vec<Uuid> {
    let battery = desired.battery.filter(|battery| {
        let wished = match battery.power {
            BatteryPower::Charge(watts) => f64::from(watts),
            BatteryPower::Discharge(watts) => -f64::from(watts),
        };
        agrees(shown.battery_setpoint_w, Some(wished))
    });
    let inverters = desired.inverters.filter(|inverters| {
        let wished = match inverters.power {
            InverterPower::Watts(watts) => Some(-f64::from(watts)),
            InverterPower::Percentage(percentage) => shown
                .solar_rated_w
                .map(|rated| -f64::from(rated) * percentage / 100.0),
        };
        agrees(shown.solar_setpoint_w, wished)
    });
    let battery = battery.map(|it| it.action_uuid);
    let inverters = inverters.map(|it| it.action_uuid);
    battery.into_iter().chain(inverters).collect()
}

fn agrees(shown: Option<i32>, wished: Option<f64>) -> bool {
    let (Some(shown), Some(wished)) = (shown, wished) else {
        return false;
    };
    let tolerance = (wished.abs() * TOLERANCE_SHARE).max(LEAST_TOLERANCE_W);
    (f64::from(shown) - wished).abs() <= tolerance
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::control::{Battery, Inverters};
    use crate::time::Timestamp;

    const CHARGING: Uuid = Uuid::from_u128(1);
    const CURTAILING: Uuid = Uuid::from_u128(2);

    fn desired(battery: BatteryPower, inverters: InverterPower) -> Desired {
        Desired {
            battery: Some(Battery {
                action_uuid: CHARGING,
                power: battery,
                until: Timestamp::from_seconds(60),
            }),
            inverters: Some(Inverters {
                action_uuid: CURTAILING,
                power: inverters,
                end: None,
                consumption_compensated: false,
            }),
            ..Desired::default()
        }
    }

    #[test]
    fn a_setpoint_within_the_tolerance_is_seen_and_one_beyond_is_not() {
        let check = |power, shown, is_seen| {
            let desired = desired(power, InverterPower::Watts(0));
            let shown = Shown {
                battery_setpoint_w: shown,
                ..Shown::default()
            };
            assert_eq!(seen(&desired, shown) == [CHARGING], is_seen, "{shown:?}");
        };
        check(BatteryPower::Charge(5_000), Some(5_000), true);
        check(BatteryPower::Charge(5_000), Some(5_050), true);
        check(BatteryPower::Charge(5_000), Some(4_949), false);
        check(BatteryPower::Charge(5_000), Some(-5_000), false);
        check(BatteryPower::Discharge(5_000), Some(-4_950), true);
        check(BatteryPower::Charge(100), Some(90), true);
        check(BatteryPower::Charge(100), Some(89), false);
        check(BatteryPower::Charge(0), None, false);
    }

    #[test]
    fn a_percentage_is_seen_by_the_rated_power() {
        let check = |power, setpoint, rated, is_seen| {
            let desired = desired(BatteryPower::Charge(1), power);
            let shown = Shown {
                solar_setpoint_w: setpoint,
                solar_rated_w: rated,
                ..Shown::default()
            };
            assert_eq!(seen(&desired, shown) == [CURTAILING], is_seen, "{shown:?}");
        };
        check(InverterPower::Watts(3_000), Some(-3_000), None, true);
        check(InverterPower::Watts(3_000), Some(-3_031), None, false);
        check(
            InverterPower::Percentage(50.0),
            Some(-4_000),
            Some(8_000),
            true,
        );
        check(
            InverterPower::Percentage(50.0),
            Some(-8_000),
            Some(8_000),
            false,
        );
        check(InverterPower::Percentage(50.0), Some(-4_000), None, false);
        check(InverterPower::Percentage(0.0), Some(0), Some(8_000), true);
        check(InverterPower::Percentage(50.0), None, Some(8_000), false);
    }
}
