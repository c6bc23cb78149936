//! The main meter's own registers: power summed up over time.

use crate::fleet::Building;
use crate::instruments::SOCKET_MOST_W;
use crate::meter::INSTALLED;
use domain::time::Timestamp;
use std::time::Duration;

/// Watt-microseconds in a watt-hour, which is a thousandth of a kWh.
const WUS_PER_WATT_HOUR: i128 = 3_600 * 1_000_000;

/// Delivery and return delivery of one main meter, exact in integers.
///
/// Before the first measurement each has counted the most that the building can do, all the time
/// since the installation: so a fleet that starts again never finds its registers below where it left them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Energy {
    most_w: [i128; 2],
    interval_micros: i128,
    /// Delivery, return delivery; nothing before the first measurement.
    counted_wus: Option<[i128; 2]>,
}

impl Energy {
    /// Both at their beginning; a power is held for one `interval`.
    pub(crate) fn new(building: &Building, interval: Duration) -> Self {
        let battery = building.battery;
        let charge_w = battery.map_or(0, |pack| i128::from(pack.max_charge_w));
        let discharge_w = battery.map_or(0, |pack| i128::from(pack.max_discharge_w));
        // Appliances and noise raise a load by half at most.
        let own_w = 2 * (i128::from(building.base_w) + i128::from(building.busy_w));
        // A car that is told to charge comes on top.
        let load_w = own_w + i128::from(SOCKET_MOST_W);
        let solar_w = i128::from(building.solar_rated_w.unwrap_or(0));
        Self {
            most_w: [load_w + charge_w, solar_w + discharge_w],
            interval_micros: i128::try_from(interval.as_micros()).unwrap_or(i128::MAX),
            counted_wus: None,
        }
    }

    /// Both registers at `time` in thousandths of a kWh, before what is held from then on.
    pub(crate) fn reading_thousandths(&self, time: Timestamp) -> [i64; 2] {
        let counted = self.counted_wus.unwrap_or_else(|| self.at_start(time));
        counted.map(|wus| i64::try_from(wus / WUS_PER_WATT_HOUR).unwrap_or(i64::MAX))
    }

    /// Holds the main meter's power at `time` for one interval.
    pub(crate) fn hold(&mut self, time: Timestamp, meter_w: i32) {
        let [delivery, returned] = self.counted_wus.unwrap_or_else(|| self.at_start(time));
        let wus = i128::from(meter_w) * self.interval_micros;
        self.counted_wus = Some([delivery + wus.max(0), returned - wus.min(0)]);
    }

    fn at_start(&self, time: Timestamp) -> [i128; 2] {
        let since = i128::from(time.micros_since(INSTALLED).max(0));
        self.most_w.map(|most_w| most_w * since)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::controller::Controller;
    use crate::fleet::Fleet;

    const INTERVAL: Duration = Duration::from_secs(60);
    const START: Timestamp = Timestamp::from_seconds(1_750_000_000);

    #[test]
    fn registers_count_what_the_meter_measured_and_a_new_start_is_no_step_back() {
        for building in Fleet::new(9, 30).buildings() {
            let mut controller = Controller::new(building, INTERVAL);
            let mut energy = Energy::new(building, INTERVAL);
            let begin = energy.reading_thousandths(START);
            let (mut time, mut sums) = (START, [0.0, 0.0]);
            for _ in 0..24 * 60 {
                let before = energy.reading_thousandths(time);
                let meter_w = controller.measure(time).meter_w();
                energy.hold(time, meter_w);
                sums[0] += f64::from(meter_w.max(0)) / 60.0;
                sums[1] += f64::from(-meter_w.min(0)) / 60.0;
                time = time.plus(INTERVAL);
                let after = energy.reading_thousandths(time);
                assert!(after[0] >= before[0] && after[1] >= before[1]);
            }
            let end = energy.reading_thousandths(time);
            for direction in 0..2 {
                let counted = (end[direction] - begin[direction]) as f64;
                assert!((counted - sums[direction]).abs() <= 1.0, "{counted}");
                let again = Energy::new(building, INTERVAL).reading_thousandths(time);
                assert!(again[direction] >= end[direction]);
            }
        }
    }
}
