//! A building's controller: what it measures, one interval after the other.

use crate::battery::Charge;
use crate::fleet::Building;
use crate::load::Load;
use crate::noise::Noise;
use crate::sun::Sun;
use domain::record::{MainMeter, Solar, Status, TelemetryRecord};
use domain::time::Timestamp;
use std::time::Duration;

/// How seldom a section calls itself degraded: this share of the hours.
const DEGRADED_SHARE: f64 = 0.03;

/// A record together with what no sensor measures.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sample {
    /// What the controller sends.
    pub record: TelemetryRecord,
    /// What the building uses by itself, in watt, at least 0.
    pub load_w: i32,
}

impl Sample {
    /// Power at the grid connection in watt.
    pub(crate) fn meter_w(&self) -> i32 {
        let meter = self.record.main_meter;
        meter.and_then(|meter| meter.active_power_w).unwrap_or(0)
    }
}

/// A building in motion.
#[derive(Clone, Copy, Debug)]
pub struct Controller {
    load: Load,
    solar: Option<(Sun, i32)>,
    battery: Option<Charge>,
    health: Noise,
}

impl Controller {
    /// Starts the building's controller, which measures once every `interval`.
    #[must_use]
    pub fn new(building: &Building, interval: Duration) -> Self {
        let seed = building.seed;
        let interval_micros = i64::try_from(interval.as_micros())
            .unwrap_or(i64::MAX)
            .max(1);
        Self {
            load: Load::new(seed, building.base_w, building.busy_w, building.profile),
            solar: building
                .solar_rated_w
                .map(|rated_w| (Sun::new(seed.rotate_left(16), rated_w), rated_w)),
            battery: building
                .battery
                .map(|pack| Charge::new(pack, building.soc_percent, interval_micros)),
            health: Noise::new(seed.rotate_left(48), Duration::from_secs(3600)),
        }
    }

    /// Measures at `time`; the battery then holds its power for one interval, so calls are meant
    /// to be one interval apart.
    #[must_use]
    pub fn measure(&mut self, time: Timestamp) -> Sample {
        let load_w = self.load.power_w(time);
        let status = self.status(time);
        let solar = self
            .solar
            .map(|(sun, rated_w)| solar_section(sun.power_w(time), rated_w, status));
        let net_w = load_w + solar.and_then(|solar| solar.active_power_w).unwrap_or(0);
        let battery = self
            .battery
            .as_mut()
            .map(|charge| charge.follow(net_w, status));
        let battery_w = battery
            .and_then(|battery| battery.active_power_w)
            .unwrap_or(0);
        let record = TelemetryRecord {
            time,
            main_meter: Some(MainMeter {
                status: Status::Available,
                active_power_w: Some(net_w + battery_w),
            }),
            battery,
            solar,
        };
        Sample { record, load_w }
    }

    /// Never `unavailable`: every record carries all of its measurements.
    fn status(&self, time: Timestamp) -> Status {
        if self.health.at(time) < DEGRADED_SHARE {
            Status::Degraded
        } else {
            Status::Available
        }
    }
}

fn solar_section(power_w: i32, rated_w: i32, status: Status) -> Solar {
    Solar {
        status,
        active_power_w: Some(power_w),
        active_power_setpoint_w: Some(-rated_w),
        rated_power_w: Some(rated_w),
        min_power_w: Some(-rated_w),
        max_power_w: Some(0),
        // Without steering: what the panels produce.
        baseline_power_w: Some(power_w),
    }
}

/// Rounds a power to whole watts.
#[expect(
    clippy::cast_possible_truncation,
    reason = "powers of a building are far below the range, and the cast saturates"
)]
pub(crate) fn whole_watts(power_w: f64) -> i32 {
    power_w.round() as i32
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fleet::Fleet;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn the_meter_shows_load_and_sun_and_battery_and_every_field_is_within_its_bounds(
            seed: u64,
            start in 0_i64..4_000_000_000,
            interval_ms in 1_u64..3_600_000,
        ) {
            let interval = Duration::from_millis(interval_ms);
            for building in Fleet::new(seed, 8).buildings() {
                let mut controller = Controller::new(building, interval);
                let mut time = Timestamp::from_seconds(start);
                for _ in 0..50 {
                    let sample = controller.measure(time);
                    check(&sample)?;
                    prop_assert_eq!(sample.record.solar.is_some(), building.solar_rated_w.is_some());
                    prop_assert_eq!(sample.record.battery.is_some(), building.battery.is_some());
                    time = time.plus(interval);
                }
            }
        }
    }

    fn check(sample: &Sample) -> Result<(), TestCaseError> {
        let meter_w = sample.record.main_meter.unwrap().active_power_w.unwrap();
        let mut sum_w = sample.load_w;
        prop_assert!(sample.load_w >= 0);
        if let Some(solar) = sample.record.solar {
            let power_w = solar.active_power_w.unwrap();
            sum_w += power_w;
            prop_assert!(power_w <= 0 && power_w >= -solar.rated_power_w.unwrap());
            prop_assert!(solar.active_power_setpoint_w.unwrap() <= 0);
            prop_assert!(solar.min_power_w.unwrap() <= solar.max_power_w.unwrap());
            prop_assert!(solar.max_power_w.unwrap() <= 0);
        }
        if let Some(battery) = sample.record.battery {
            sum_w += battery.active_power_w.unwrap();
            prop_assert!((0.0..=100.0).contains(&battery.soc_percent.unwrap()));
            prop_assert!(battery.charge_limit_w.unwrap() >= 0);
            prop_assert!(battery.discharge_limit_w.unwrap() >= 0);
            prop_assert!(battery.remaining_charge_time_s.unwrap() >= 0);
            prop_assert!(battery.remaining_discharge_time_s.unwrap() >= 0);
        }
        prop_assert_eq!(meter_w, sum_w);
        Ok(())
    }
}
