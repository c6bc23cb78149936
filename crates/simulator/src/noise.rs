//! Smooth seeded noise over time.

use domain::time::Timestamp;
use std::time::Duration;

/// A curve from 0 to 1 that has a value at every time, in whatever order it is asked.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Noise {
    seed: u64,
    period_micros: i64,
}

impl Noise {
    /// A curve that takes a new direction once every `period`.
    pub(crate) fn new(seed: u64, period: Duration) -> Self {
        let period_micros = i64::try_from(period.as_micros()).unwrap_or(i64::MAX).max(1);
        Self {
            seed,
            period_micros,
        }
    }

    /// The curve's value, at least 0 and below 1.
    pub(crate) fn at(self, time: Timestamp) -> f64 {
        let cell = time.micros().div_euclid(self.period_micros);
        let part = time.micros().rem_euclid(self.period_micros) as f64 / self.period_micros as f64;
        let eased = part * part * (3.0 - 2.0 * part);
        let from = self.corner(cell);
        let to = self.corner(cell.wrapping_add(1));
        from + (to - from) * eased
    }

    fn corner(self, cell: i64) -> f64 {
        // The upper 53 bits are what a double holds exactly.
        const UNIT: f64 = 1.0 / (1_u64 << 53) as f64;
        (scramble(self.seed ^ scramble(cell.cast_unsigned())) >> 11) as f64 * UNIT
    }
}

/// The finishing step of the splitmix64 generator: every input bit moves half of the output bits.
fn scramble(value: u64) -> u64 {
    let value = value.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ (value >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn noise_stays_in_its_range_and_has_no_steps(seed: u64, micros in -4_000_000_000_000_000_i64..4_000_000_000_000_000) {
            let noise = Noise::new(seed, Duration::from_secs(60));
            let here = noise.at(Timestamp::from_micros(micros));
            let next = noise.at(Timestamp::from_micros(micros + 1_000));
            prop_assert!((0.0..1.0).contains(&here));
            prop_assert!((here - next).abs() < 0.001);
        }
    }
}
