//! Registers: which sensors have one, what a virtual one reads, and why an own one reads less than
//! before.

use crate::electricity::Source;
use crate::sensor::SensorKind;

/// Watt-microseconds in a thousandth of a kWh: 3.6 billion.
const WUS_PER_MILLI_KWH: i128 = 3_600 * 1_000_000;

/// The smallest range that a register rolls over in: meters have four digits at least.
const SMALLEST_RANGE: f64 = 1e4;

/// Whether the service takes a sensor's own register from readings: electricity but the combined
/// sensor, sockets, heat, gas and volumes of water.
#[must_use]
pub const fn takes_own_register(kind: SensorKind, source: Source) -> bool {
    let quantity = matches!(
        kind,
        SensorKind::Heat | SensorKind::GasVolume | SensorKind::WaterVolume
    );
    quantity || has_virtual_register(kind, source)
}

/// Whether the service keeps a virtual register for a sensor that sends none of its own: for
/// everything electric but the combined sensor.
#[must_use]
pub const fn has_virtual_register(kind: SensorKind, source: Source) -> bool {
    kind.is_electric() && !matches!(source, Source::Combined)
}

/// Energy in kWh, rounded once to three decimals, half away from zero; as the double that prints with
/// these decimals.
#[must_use]
pub fn kwh(energy_wus: i128) -> f64 {
    let half = energy_wus.signum() * (WUS_PER_MILLI_KWH / 2);
    let milli_kwh = (energy_wus + half) / WUS_PER_MILLI_KWH;
    milli_kwh as f64 / 1e3
}

/// Why a meter's own register reads less than before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RegisterEvent {
    /// It began anew at about 0.
    Reset,
    /// It ran past its last digit.
    Rollover,
    /// It is another meter's.
    Replacement,
}

impl RegisterEvent {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Reset, Self::Rollover, Self::Replacement];

    /// The word by which the database knows it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Reset => "reset",
            Self::Rollover => "rollover",
            Self::Replacement => "replacement",
        }
    }
}

/// What happened between two neighbouring readings of one register, as far as these two tell; `None`
/// while it counts upwards.
///
/// A rollover goes from the last tenth of the register's range (the next power of ten, at least
/// 10,000) into its first tenth; a reset falls to a hundredth or less; any other fall is that of
/// another meter.
#[must_use]
pub fn classify(before: f64, after: f64) -> Option<RegisterEvent> {
    if after >= before {
        return None;
    }
    let tenth = range(before) / 10.0;
    Some(if before >= tenth * 9.0 && after <= tenth {
        RegisterEvent::Rollover
    } else if after * 100.0 <= before {
        RegisterEvent::Reset
    } else {
        RegisterEvent::Replacement
    })
}

/// The power of ten above a reading.
fn range(reading: f64) -> f64 {
    let mut range = SMALLEST_RANGE;
    while range <= reading {
        range *= 10.0;
    }
    range
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sensor::SensorKind::{self, Consumption, Delivery, EvSocket, Heat, Setpoint};

    #[test]
    fn kwh_have_three_decimals_rounded_half_away_from_zero() {
        let check = |energy_wus: i128, text: &str| {
            assert_eq!(format!("{:?}", kwh(energy_wus)), text, "{energy_wus}");
        };
        check(0, "0.0");
        check(1_799_999_999, "0.0");
        check(1_800_000_000, "0.001");
        check(5_399_999_999, "0.001");
        check(5_400_000_000, "0.002");
        check(-1_800_000_000, "-0.001");
        check(-1_799_999_999, "0.0");
        check(12_345 * WUS_PER_MILLI_KWH, "12.345");
        check(12_345 * WUS_PER_MILLI_KWH - WUS_PER_MILLI_KWH / 2, "12.345");
        check(
            12_345 * WUS_PER_MILLI_KWH - WUS_PER_MILLI_KWH / 2 - 1,
            "12.344",
        );
        // A hundred years of the greatest power.
        check(2_147_483_647 * 1_000_000 * 3_155_760_000, "1882484164960.2");
    }

    #[test]
    fn a_fall_of_a_register_has_a_reason() {
        let check = |before, after, event| {
            assert_eq!(classify(before, after), event, "{before} -> {after}");
        };
        check(0.0, 0.0, None);
        check(5.0, 5.0, None);
        check(5.0, 6.0, None);
        check(9_000.0, 1_000.0, Some(RegisterEvent::Rollover));
        check(9_999.999, 0.0, Some(RegisterEvent::Rollover));
        check(8_999.9, 80.0, Some(RegisterEvent::Reset));
        check(8_999.9, 900.0, Some(RegisterEvent::Replacement));
        check(9_000.0, 1_000.1, Some(RegisterEvent::Replacement));
        // The range is the power of ten above the reading, and four digits at least.
        check(999.0, 0.5, Some(RegisterEvent::Reset));
        check(999.0, 99.0, Some(RegisterEvent::Replacement));
        check(10_000.0, 0.0, Some(RegisterEvent::Reset));
        check(99_999.0, 9.0, Some(RegisterEvent::Rollover));
        check(950_000.0, 100_000.0, Some(RegisterEvent::Rollover));
        check(500.0, 5.0, Some(RegisterEvent::Reset));
        check(500.0, 5.1, Some(RegisterEvent::Replacement));
        check(0.001, 0.0, Some(RegisterEvent::Reset));
        check(f64::MAX, 1.0, Some(RegisterEvent::Reset));
    }

    #[test]
    fn electric_sensors_have_a_register_but_the_combined_one() {
        let check = |kind: SensorKind, source, own, virtually| {
            let found = (
                takes_own_register(kind, source),
                has_virtual_register(kind, source),
            );
            assert_eq!(found, (own, virtually), "{kind:?} {source:?}");
        };
        let fed = Source::Telemetry(Delivery.telemetry_feed().unwrap());
        check(Delivery, fed, true, true);
        check(Delivery, Source::Own, true, true);
        check(Consumption, Source::Own, true, true);
        check(Consumption, Source::Combined, false, false);
        check(EvSocket, Source::Own, true, true);
        for kind in [Heat, SensorKind::GasVolume, SensorKind::WaterVolume] {
            check(kind, Source::Own, true, false);
        }
        let others = [
            SensorKind::WaterFlow,
            SensorKind::Temperature,
            SensorKind::RelativeHumidity,
            Setpoint,
        ];
        for kind in others {
            check(kind, Source::Own, false, false);
        }
    }
}
