//! What a building has besides meter, inverters and batteries, and what it reads.

use crate::fleet::draw_uuid;
use crate::meter::{LIFE_DAYS, Meter};
use crate::noise::Noise;
use domain::time::Timestamp;
use rand::{Rng, RngExt};
use rand_chacha::ChaCha8Rng;
use std::time::Duration;
use uuid::Uuid;

/// One building in so many has its gas meter replaced now and then.
const REPLACED_GAS_SHARE: f64 = 0.2;
/// How many buildings have heat from outside; the others have a water meter that is read.
const HEAT_SHARE: f64 = 0.4;
/// How many main meters send their own registers.
const OWN_REGISTER_SHARE: f64 = 0.5;
/// Two readings of a room differ in steps of a tenth.
const STEPS: f64 = 10.0;
/// Half of the time no car is charged.
const NO_CAR: f64 = 0.5;
/// The largest part of a building's load that its car socket is.
const CAR_SHARE: f64 = 0.8;

/// The most that a car socket can do, watt: three phases of 32 A.
pub(crate) const SOCKET_MOST_W: i32 = 22_000;
/// What the setpoints are when nobody sets them, degrees Celsius: heating and cooling.
const SETPOINT_DEFAULTS: [f64; 2] = [20.0, 25.0];

/// The identities of hubs and sensors, and what their meters count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Instruments {
    /// Whether the main meter sends its own registers.
    pub(crate) own_registers: bool,
    pub(crate) gas_hub: Uuid,
    pub(crate) gas: Uuid,
    pub(crate) gas_meter: Meter,
    pub(crate) utility_hub: Uuid,
    pub(crate) utility: Utility,
    pub(crate) utility_meter: Meter,
    pub(crate) climate_hub: Uuid,
    pub(crate) temperature: Uuid,
    pub(crate) humidity: Uuid,
    pub(crate) charger_hub: Uuid,
    pub(crate) ev_socket: Uuid,
    pub(crate) management_hub: Uuid,
    /// For heating and for cooling.
    pub(crate) setpoints: [Uuid; 2],
    seed: u64,
}

/// What comes in by pipe besides gas.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Utility {
    /// District heating, GJ.
    Heat {
        /// The register's sensor.
        heat: Uuid,
    },
    /// Water, m3 and L/h.
    Water {
        /// The register's sensor.
        volume: Uuid,
        /// The flow's sensor.
        flow: Uuid,
    },
}

impl Instruments {
    pub(crate) fn draw(random: &mut ChaCha8Rng) -> Self {
        let has_heat = random.random_bool(HEAT_SHARE);
        let is_replaced = random.random_bool(REPLACED_GAS_SHARE);
        let replaced_from_day = random.random_range(1..LIFE_DAYS);
        let mut gas_meter = draw_meter(random, 500..20_000);
        gas_meter.replaced_from_day = is_replaced.then_some(replaced_from_day);
        let utility_meter = match has_heat {
            true => draw_meter(random, 100..2_000),
            false => draw_meter(random, 100..5_000),
        };
        let [first, second] = [draw_uuid(random), draw_uuid(random)];
        let utility = match has_heat {
            true => Utility::Heat { heat: first },
            false => Utility::Water {
                volume: first,
                flow: second,
            },
        };
        Self {
            own_registers: random.random_bool(OWN_REGISTER_SHARE),
            gas_hub: draw_uuid(random),
            gas: draw_uuid(random),
            gas_meter,
            utility_hub: draw_uuid(random),
            utility,
            utility_meter,
            climate_hub: draw_uuid(random),
            temperature: draw_uuid(random),
            humidity: draw_uuid(random),
            charger_hub: draw_uuid(random),
            ev_socket: draw_uuid(random),
            seed: random.next_u64(),
            management_hub: draw_uuid(random),
            setpoints: [draw_uuid(random), draw_uuid(random)],
        }
    }

    /// Room temperature in tenths of a degree Celsius: 17 to 24 degrees, without jumps.
    pub(crate) fn temperature_tenths(&self, time: Timestamp) -> i64 {
        let slow = self.noise(0, Duration::from_secs(6 * 3_600)).at(time);
        let quick = self.noise(8, Duration::from_secs(900)).at(time);
        tenths(17.0 + 6.0 * slow + quick)
    }

    /// Relative humidity in tenths of a percent: 30 to 65 percent, without jumps.
    pub(crate) fn humidity_tenths(&self, time: Timestamp) -> i64 {
        let slow = self.noise(16, Duration::from_secs(8 * 3_600)).at(time);
        let quick = self.noise(24, Duration::from_secs(1_200)).at(time);
        tenths(30.0 + 30.0 * slow + 5.0 * quick)
    }

    /// What the car socket draws, a part of the building's own `load_w`.
    pub(crate) fn ev_socket_w(&self, time: Timestamp, load_w: i32) -> i32 {
        let presence = self.noise(32, Duration::from_secs(2 * 3_600)).at(time);
        let share = (presence - NO_CAR).max(0.0) / (1.0 - NO_CAR) * CAR_SHARE;
        crate::controller::whole_watts(f64::from(load_w) * share).clamp(0, load_w)
    }

    /// What a setpoint is when nobody sets it; none for what is no setpoint here.
    pub(crate) fn setpoint_default(&self, sensor: Uuid) -> Option<f64> {
        let mut setpoints = self.setpoints.iter().zip(SETPOINT_DEFAULTS);
        setpoints.find(|it| *it.0 == sensor).map(|it| it.1)
    }

    /// Strength of the controller's radio link in percent.
    pub(crate) fn signal_percent(&self, time: Timestamp) -> i64 {
        let link = self.noise(40, Duration::from_secs(3_600)).at(time);
        tenths(4.0 + 6.0 * link)
    }

    /// What the controller is set to, and whether it is being held back.
    pub(crate) fn mode(&self, time: Timestamp) -> (&'static str, bool) {
        let mode = self.noise(48, Duration::from_secs(3_600)).at(time);
        match mode {
            low if low < 0.4 => ("self_consumption", false),
            middle if middle < 0.8 => ("schedule", false),
            _ => ("peak_shaving", true),
        }
    }

    /// The version that the controller runs.
    pub(crate) fn firmware_version(&self) -> String {
        format!("2.{}.{}", self.seed % 5, self.seed / 5 % 10)
    }

    fn noise(&self, turn: u32, period: Duration) -> Noise {
        Noise::new(self.seed.rotate_left(turn), period)
    }
}

fn draw_meter(random: &mut ChaCha8Rng, daily_thousandths: std::ops::Range<u32>) -> Meter {
    Meter {
        daily_thousandths: random.random_range(daily_thousandths),
        swing_percent: random.random_range(20..=90),
        busiest_hour: random.random_range(5..20),
        replaced_from_day: None,
    }
}

#[expect(clippy::cast_possible_truncation, reason = "numbers of a room")]
fn tenths(number: f64) -> i64 {
    (number * STEPS).round() as i64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fleet::Fleet;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn rooms_are_liveable_and_change_slowly_and_a_car_takes_a_part_of_the_load(
            seed: u64, second in 1_700_000_000_i64..1_900_000_000, load_w in 0_i32..200_000,
        ) {
            let fleet = Fleet::new(seed, 1);
            let instruments = fleet.buildings()[0].instruments;
            let [now, later] = [second, second + 60].map(Timestamp::from_seconds);
            for (of, range, step) in [
                (Instruments::temperature_tenths as fn(&Instruments, Timestamp) -> i64, 170..=240, 3),
                (Instruments::humidity_tenths, 300..=650, 8),
            ] {
                let (here, next) = (of(&instruments, now), of(&instruments, later));
                prop_assert!(range.contains(&here), "{here}");
                prop_assert!((here - next).abs() <= step, "{here} and {next}");
            }
            prop_assert!((0..=load_w).contains(&instruments.ev_socket_w(now, load_w)));
            prop_assert!((0..=100).contains(&instruments.signal_percent(now)));
        }
    }
}
