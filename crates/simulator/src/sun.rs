//! Solar production: the sun's height in the Netherlands, behind clouds.

use crate::controller::whole_watts;
use crate::noise::Noise;
use domain::time::Timestamp;
use std::f64::consts::TAU;
use std::time::Duration;

const LATITUDE: f64 = 52.1_f64.to_radians();
const LONGITUDE_HOURS: f64 = 5.2 / 15.0;
const AXIAL_TILT: f64 = 23.44_f64.to_radians();
const DAYS_PER_YEAR: f64 = 365.2425;
/// Days from the winter solstice to new year.
const SOLSTICE_DAYS: f64 = 10.0;
/// What a closed cover of clouds lets through.
const LEAST_LIGHT: f64 = 0.12;

/// The solar inverters of one building under their own sky.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sun {
    rated_power_w: i32,
    weather: Noise,
    clouds: Noise,
}

impl Sun {
    pub(crate) fn new(seed: u64, rated_power_w: i32) -> Self {
        Self {
            rated_power_w,
            weather: Noise::new(seed, Duration::from_secs(4 * 3600)),
            clouds: Noise::new(seed.rotate_left(32), Duration::from_secs(240)),
        }
    }

    /// Power in watt: production is negative, from minus the rated power to 0.
    pub(crate) fn power_w(self, time: Timestamp) -> i32 {
        let light = height(time) * self.sky(time);
        -whole_watts(f64::from(self.rated_power_w) * light).clamp(0, self.rated_power_w)
    }

    fn sky(self, time: Timestamp) -> f64 {
        let clear = 0.7 * self.weather.at(time) + 0.3 * self.clouds.at(time);
        LEAST_LIGHT + (1.0 - LEAST_LIGHT) * clear
    }
}

/// The sine of the sun's elevation, 0 at night.
fn height(time: Timestamp) -> f64 {
    let days = time.micros() as f64 / 86_400e6;
    let declination = -AXIAL_TILT * (TAU * (days + SOLSTICE_DAYS) / DAYS_PER_YEAR).cos();
    let hour_angle = TAU * (days.rem_euclid(1.0) - 0.5 + LONGITUDE_HOURS / 24.0);
    let sine =
        LATITUDE.sin() * declination.sin() + LATITUDE.cos() * declination.cos() * hour_angle.cos();
    sine.max(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SUMMER_MIDNIGHT: i64 = 1_750_464_000;
    const WINTER_MIDNIGHT: i64 = 1_766_275_200;

    #[test]
    fn the_sun_is_high_at_a_summer_noon_low_at_a_winter_noon_and_gone_at_night() {
        let at = |seconds| height(Timestamp::from_seconds(seconds));
        let noon = 11 * 3600 + 39 * 60;
        assert!((at(SUMMER_MIDNIGHT + noon) - 61.3_f64.to_radians().sin()).abs() < 0.01);
        assert!((at(WINTER_MIDNIGHT + noon) - 14.5_f64.to_radians().sin()).abs() < 0.01);
        assert_eq!(at(SUMMER_MIDNIGHT), 0.0);
        assert_eq!(at(WINTER_MIDNIGHT), 0.0);
    }
}
