//! A building's controller: what it measures, one interval after the other.

use crate::battery::Charge;
use crate::fleet::Building;
use crate::instruments::{Instruments, SOCKET_MOST_W};
use crate::inverters::Inverters;
use crate::load::Load;
use crate::noise::Noise;
use crate::obedience::Abilities;
use crate::orders::{Limits, Orders};
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
    /// What of it a car draws that was told to, in watt; none when the car follows its own rhythm.
    pub car_w: Option<i32>,
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
    inverters: Option<Inverters>,
    battery: Option<Charge>,
    health: Noise,
    instruments: Instruments,
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
            inverters: building
                .solar_rated_w
                .map(|rated_w| Inverters::new(Sun::new(seed.rotate_left(16), rated_w), rated_w)),
            battery: building
                .battery
                .map(|pack| Charge::new(pack, building.soc_percent, interval_micros)),
            health: Noise::new(seed.rotate_left(48), Duration::from_secs(3600)),
            instruments: building.instruments,
        }
    }

    /// Measures at `time`, without orders; the battery then holds its power for one interval, so calls
    /// are meant to be one interval apart.
    #[must_use]
    pub fn measure(&mut self, time: Timestamp) -> Sample {
        self.obey(time, &Orders::default())
    }

    /// Measures at `time` what the orders make of the building.
    #[must_use]
    pub(crate) fn obey(&mut self, time: Timestamp, orders: &Orders<'_>) -> Sample {
        let (load_w, car_w) = self.load_w(time, orders);
        let status = self.status(time);
        let solar = self.inverters.as_mut();
        let mut solar = solar.map(|it| it.produce(time, load_w, orders.inverters, status));
        let solar_w = |solar: Option<Solar>| solar.and_then(|it| it.active_power_w).unwrap_or(0);
        let net_w = load_w + solar_w(solar);
        let battery = self.battery.as_mut().map(|charge| {
            let (setpoint_w, power_w) = steered(charge, net_w, orders);
            charge.hold(setpoint_w, power_w, status)
        });
        let battery_w = battery.and_then(|it| it.active_power_w).unwrap_or(0);
        if let (Some(limits), Some(solar)) = (orders.limits, solar.as_mut()) {
            curtail_export(solar, net_w + battery_w, limits);
        }
        let record = TelemetryRecord {
            time,
            main_meter: Some(MainMeter {
                status: Status::Available,
                active_power_w: Some(load_w + solar_w(solar) + battery_w),
            }),
            battery,
            solar,
        };
        Sample {
            record,
            load_w,
            car_w,
        }
    }

    /// What the devices can do now.
    pub(crate) fn abilities(&self) -> Abilities<'_> {
        Abilities {
            has_solar: self.inverters.is_some(),
            battery_w: self.battery.as_ref().map(Charge::limits_w),
            instruments: &self.instruments,
        }
    }

    /// The load, and the car's part of it when the car is told what to draw.
    fn load_w(&self, time: Timestamp, orders: &Orders<'_>) -> (i32, Option<i32>) {
        let load_w = self.load.power_w(time);
        let Some(ordered_w) = orders.socket_w(self.instruments.ev_socket) else {
            return (load_w, None);
        };
        let car_w = ordered_w.min(SOCKET_MOST_W);
        let rest_w = load_w - self.instruments.ev_socket_w(time, load_w);
        (rest_w + car_w, Some(car_w))
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

/// Setpoint and power of the battery: an order for the battery itself comes before one for the grid
/// connection, and grid limits before both.
fn steered(charge: &Charge, net_w: i32, orders: &Orders<'_>) -> (i32, i32) {
    let ordered_w = match (orders.battery_w, orders.meter_w) {
        (Some(battery_w), _) => Some(battery_w),
        (None, Some(meter_w)) => Some(meter_w.saturating_sub(net_w)),
        (None, None) => None,
    };
    // An order is shown as far as it can be done, so that nothing seems to be done that is not.
    let setpoint_w = match ordered_w {
        Some(ordered_w) => charge.able_w(ordered_w),
        None => charge.following_w(net_w),
    };
    let power_w = match orders.limits {
        None => setpoint_w,
        Some(limits) => {
            let most_w = limits.delivery_w.saturating_sub(net_w);
            let least_w = limits
                .return_delivery_w
                .saturating_neg()
                .saturating_sub(net_w);
            setpoint_w.clamp(least_w.min(most_w), most_w)
        }
    };
    (setpoint_w, charge.able_w(power_w))
}

/// Takes from the production what of `meter_w` is more export than the limits let pass.
fn curtail_export(solar: &mut Solar, meter_w: i32, limits: Limits) {
    let excess_w = meter_w
        .saturating_neg()
        .saturating_sub(limits.return_delivery_w);
    if let Some(power_w) = solar.active_power_w.as_mut() {
        *power_w += excess_w.clamp(0, power_w.saturating_neg());
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
mod tests;
