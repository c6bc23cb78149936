//! What a building uses by itself: a base, the rhythm of its day, appliances and noise.

use crate::controller::whole_watts;
use crate::noise::Noise;
use domain::time::Timestamp;
use std::time::Duration;

/// The rhythm of a building's day.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DayProfile {
    /// Up in the morning, most in the evening.
    Household,
    /// Most during office hours.
    Business,
}

impl DayProfile {
    /// How busy the building is at an hour of the day (0 to 24), from 0 to about 1.
    fn activity(self, hour: f64) -> f64 {
        match self {
            Self::Household => {
                0.15 + 0.45 * bump(hour, 7.5, 1.2)
                    + 0.2 * bump(hour, 12.5, 1.5)
                    + 0.8 * bump(hour, 19.0, 2.2)
            }
            Self::Business => 0.1 + 0.9 * rise(hour, 7.5) * (1.0 - rise(hour, 17.5)),
        }
    }
}

fn bump(hour: f64, middle: f64, width: f64) -> f64 {
    (-((hour - middle) / width).powi(2)).exp()
}

/// From 0 to 1 within about an hour around `hour_of_change`.
fn rise(hour: f64, hour_of_change: f64) -> f64 {
    1.0 / (1.0 + (-4.0 * (hour - hour_of_change)).exp())
}

/// The load of one building.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Load {
    base_w: f64,
    busy_w: f64,
    profile: DayProfile,
    appliances: Noise,
    flicker: Noise,
}

impl Load {
    /// A load of `base_w` watt at rest and about `base_w + busy_w` when the building is busiest.
    pub(crate) fn new(seed: u64, base_w: i32, busy_w: i32, profile: DayProfile) -> Self {
        Self {
            base_w: f64::from(base_w),
            busy_w: f64::from(busy_w),
            profile,
            appliances: Noise::new(seed, Duration::from_secs(300)),
            flicker: Noise::new(seed.rotate_left(32), Duration::from_millis(800)),
        }
    }

    /// Power in watt, at least 0.
    pub(crate) fn power_w(self, time: Timestamp) -> i32 {
        let hour = (time.micros() as f64 / 3600e6 + 1.0).rem_euclid(24.0);
        let busy = self.profile.activity(hour) * (0.6 + 0.8 * self.appliances.at(time));
        let flicker = 0.97 + 0.06 * self.flicker.at(time);
        whole_watts((self.base_w + self.busy_w * busy) * flicker).max(0)
    }
}
