//! The solar inverters of a building: they give what the sun gives them, up to what they may.

use crate::controller::whole_watts;
use crate::orders::Curtailment;
use crate::sun::Sun;
use domain::control::InverterPower;
use domain::record::{Solar, Status};
use domain::time::Timestamp;

/// All inverters of one building.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Inverters {
    sun: Sun,
    rated_w: i32,
    /// The last production that nobody had a hand in, which is the baseline while somebody has.
    unsteered_w: Option<i32>,
}

impl Inverters {
    pub(crate) const fn new(sun: Sun, rated_w: i32) -> Self {
        Self {
            sun,
            rated_w,
            unsteered_w: None,
        }
    }

    /// Measures at `time`. What is compensated for consumption is the building's own load.
    pub(crate) fn produce(
        &mut self,
        time: Timestamp,
        load_w: i32,
        order: Option<Curtailment>,
        status: Status,
    ) -> Solar {
        let sun_w = self.sun.power_w(time);
        let (setpoint_w, power_w, baseline_w) = match order {
            None => {
                self.unsteered_w = Some(sun_w);
                (-self.rated_w, sun_w, sun_w)
            }
            Some(order) => {
                let cap_w = self.cap_w(order.power);
                let own_use_w = if order.consumption_compensated {
                    load_w
                } else {
                    0
                };
                let power_w = sun_w.max(-cap_w.saturating_add(own_use_w));
                (-cap_w, power_w, self.unsteered_w.unwrap_or(sun_w))
            }
        };
        Solar {
            status,
            active_power_w: Some(power_w),
            active_power_setpoint_w: Some(setpoint_w),
            rated_power_w: Some(self.rated_w),
            min_power_w: Some(-self.rated_w),
            max_power_w: Some(0),
            baseline_power_w: Some(baseline_w),
        }
    }

    fn cap_w(self, power: InverterPower) -> i32 {
        match power {
            InverterPower::Watts(watts) => watts,
            InverterPower::Percentage(percentage) => {
                whole_watts(f64::from(self.rated_w) * percentage / 100.0)
            }
        }
    }
}
