//! A battery, which by itself follows the building's own surplus and shortage.

use crate::controller::whole_watts;
use domain::record::{Battery, Status};

/// Energy is counted in watt-microseconds: power times time is then exact in integers.
const MICROJOULES_PER_WATT_HOUR: i64 = 3_600_000_000;
const MICROS_PER_SECOND: i64 = 1_000_000;

/// What a battery can hold and do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BatteryPack {
    /// Usable energy in watt-hours.
    pub capacity_wh: i32,
    /// Most power while charging, in watt.
    pub max_charge_w: i32,
    /// Most power while discharging, in watt.
    pub max_discharge_w: i32,
    /// How much of a surplus or shortage the battery takes over, in percent.
    pub follow_percent: u8,
}

impl BatteryPack {
    const fn capacity(self) -> i64 {
        self.capacity_wh as i64 * MICROJOULES_PER_WATT_HOUR
    }
}

/// A battery with what is in it: power is held for one interval, without losses.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Charge {
    pack: BatteryPack,
    energy: i64,
    interval_micros: i64,
}

impl Charge {
    pub(crate) fn new(pack: BatteryPack, soc_percent: u8, interval_micros: i64) -> Self {
        Self {
            pack,
            energy: pack.capacity() / 100 * i64::from(soc_percent.min(100)),
            interval_micros,
        }
    }

    /// What the battery would do by itself about the building's `net_w` (use positive, surplus
    /// negative), in watt, charging positive; it may be more than it can.
    pub(crate) fn following_w(&self, net_w: i32) -> i32 {
        let share = f64::from(self.pack.follow_percent) / 100.0;
        whole_watts(-f64::from(net_w) * share)
    }

    /// The most that it can discharge and charge with for one interval, watt.
    pub(crate) fn limits_w(&self) -> [i32; 2] {
        let room = self.pack.capacity() - self.energy;
        [
            self.limit_w(self.energy, self.pack.max_discharge_w),
            self.limit_w(room, self.pack.max_charge_w),
        ]
    }

    /// The power nearest to `power_w` that it can do.
    pub(crate) fn able_w(&self, power_w: i32) -> i32 {
        let [discharge_limit_w, charge_limit_w] = self.limits_w();
        power_w.clamp(-discharge_limit_w, charge_limit_w)
    }

    /// Measures, and holds the power, which must be one that it can do, for the interval.
    pub(crate) fn hold(&mut self, setpoint_w: i32, power_w: i32, status: Status) -> Battery {
        let room = self.pack.capacity() - self.energy;
        let [discharge_limit_w, charge_limit_w] = self.limits_w();
        let section = Battery {
            status,
            active_power_w: Some(power_w),
            active_power_setpoint_w: Some(setpoint_w),
            baseline_power_w: Some(0),
            soc_percent: Some(self.soc_percent()),
            charge_limit_w: Some(charge_limit_w),
            remaining_charge_time_s: Some(seconds(room, power_w, self.pack.max_charge_w)),
            discharge_limit_w: Some(discharge_limit_w),
            remaining_discharge_time_s: Some(seconds(
                self.energy,
                power_w.saturating_neg(),
                self.pack.max_discharge_w,
            )),
        };
        self.energy += i64::from(power_w) * self.interval_micros;
        section
    }

    /// The most power that neither the pack nor the energy left to move forbids for one interval.
    fn limit_w(&self, energy: i64, max_power_w: i32) -> i32 {
        let whole_interval_w = energy / self.interval_micros;
        i32::try_from(whole_interval_w).map_or(max_power_w, |limit_w| limit_w.min(max_power_w))
    }

    /// In percent with three decimals, rounded down.
    fn soc_percent(&self) -> f64 {
        let thousandths = i128::from(self.energy) * 100_000 / i128::from(self.pack.capacity());
        thousandths as f64 / 1_000.0
    }
}

/// How long `energy` lasts at the present power, or at the most power where it flows the other way.
fn seconds(energy: i64, power_w: i32, max_power_w: i32) -> i32 {
    let rate_w = if power_w > 0 { power_w } else { max_power_w };
    let seconds = energy / (i64::from(rate_w.max(1)) * MICROS_PER_SECOND);
    i32::try_from(seconds).unwrap_or(i32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_state_of_charge_is_the_power_summed_up_and_never_leaves_0_to_100(
            capacity_wh in 1_000_i32..500_000,
            max_power_w in 500_i32..250_000,
            soc in 0_u8..=100,
            interval_micros in 1_000_i64..=86_400_000_000,
            nets in prop::collection::vec(-500_000_i32..500_000, 1..200),
        ) {
            let pack = BatteryPack {
                capacity_wh, max_charge_w: max_power_w, max_discharge_w: max_power_w, follow_percent: 95,
            };
            let mut charge = Charge::new(pack, soc, interval_micros);
            let mut first_percent = None;
            let mut moved_wh = 0.0;
            for net_w in nets {
                let setpoint_w = charge.following_w(net_w);
                let section = charge.hold(setpoint_w, charge.able_w(setpoint_w), Status::Available);
                let percent = section.soc_percent.unwrap();
                let power_w = section.active_power_w.unwrap();
                let expected = *first_percent.get_or_insert(percent) + moved_wh / f64::from(capacity_wh) * 100.0;
                prop_assert!((0.0..=100.0).contains(&percent));
                prop_assert!((percent - expected).abs() < 0.0021, "{percent} instead of {expected}");
                prop_assert!(power_w <= section.charge_limit_w.unwrap());
                prop_assert!(power_w >= -section.discharge_limit_w.unwrap());
                prop_assert!(section.charge_limit_w.unwrap() >= 0 && section.discharge_limit_w.unwrap() >= 0);
                moved_wh += f64::from(power_w) * interval_micros as f64 / 3.6e9;
            }
        }
    }
}
