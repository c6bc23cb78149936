//! Electricity reads: which values count together, how old they may be, and how they combine.
//!
//! Everything is in whole watt and in microseconds; a body shows `datetime` rounded down to seconds,
//! but windows and ages are those of the exact times.

use crate::sensor::{Feed, SensorKind};
use crate::time::Timestamp;
use std::time::Duration;

/// Values count together when none is more than this before the newest one, inclusive.
pub const COMBINED_WINDOW: Duration = Duration::from_secs(120);

/// An `actual` read gives values up to this age, inclusive.
pub const ACTUAL_AGE: Duration = Duration::from_secs(3_600);

/// The two reads that every electricity value has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Read {
    /// Gives what is at most [`ACTUAL_AGE`] old.
    Actual,
    /// Gives the last value, however old it is.
    Latest,
}

impl Read {
    /// Whether the read gives a value whose oldest part is of `time`.
    #[must_use]
    pub fn gives(self, time: Timestamp, now: Timestamp) -> bool {
        match self {
            Self::Actual => time >= now.minus(ACTUAL_AGE),
            Self::Latest => true,
        }
    }
}

/// A sensor's power at one point in time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sample {
    /// When it was measured; of a minute aggregate the minute's start.
    pub time: Timestamp,
    /// Watt.
    pub power_w: i64,
}

/// Where a sensor's power comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// A section of the realtime telemetry.
    Telemetry(Feed),
    /// The building's contributors, combined.
    Combined,
    /// Neither: only what the controller sends for this very sensor.
    Own,
}

/// The source of each sensor of a building, given the kinds of all its sensors, those of the fleet
/// file first and in its order. Telemetry feeds the first of a kind; the first `consumption` of a
/// building with a main meter is the combined one.
#[must_use]
pub fn sources(kinds: &[SensorKind]) -> Vec<Source> {
    let has_main_meter = has_main_meter(kinds.iter().copied());
    let source = |(index, kind): (usize, &SensorKind)| {
        let first = kinds.iter().position(|it| it == kind) == Some(index);
        match (first, kind.telemetry_feed()) {
            (true, Some(feed)) => Source::Telemetry(feed),
            (true, None) if *kind == SensorKind::Consumption && has_main_meter => Source::Combined,
            (true | false, _) => Source::Own,
        }
    };
    kinds.iter().enumerate().map(source).collect()
}

fn has_main_meter(mut kinds: impl Iterator<Item = SensorKind>) -> bool {
    kinds.any(|kind| matches!(kind, SensorKind::Delivery | SensorKind::ReturnDelivery))
}

/// A sensor of a building with its newest sample, if it ever had one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Metered {
    /// What the sensor measures; others than the five that contribute are passed over.
    pub kind: SensorKind,
    /// Its newest sample.
    pub newest: Option<Sample>,
}

/// The power of a whole building, in watt; a method without a sensor in the window is `None`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BuildingPower {
    /// The oldest sample in the window.
    pub time: Timestamp,
    /// From the grid.
    pub delivery: Option<i64>,
    /// To the grid.
    pub return_delivery: Option<i64>,
    /// Of the solar inverters.
    pub production: Option<i64>,
    /// Into the batteries.
    pub charge: Option<i64>,
    /// Out of the batteries.
    pub discharge: Option<i64>,
    /// What the building uses, at least 0. With a main meter it needs all contributors in the window;
    /// without, it is the sum of the sensors that measure it.
    pub consumption: Option<i64>,
}

impl BuildingPower {
    /// Delivery − return delivery, when the meter is in the window.
    #[must_use]
    pub fn value(&self) -> Option<i64> {
        Some(self.delivery? - self.return_delivery?)
    }

    /// The sums of the sensors that measured within [`COMBINED_WINDOW`] before the newest sample;
    /// `None` without any sample.
    #[must_use]
    pub fn of(sensors: &[Metered]) -> Option<Self> {
        let counted = counted(sensors);
        let newest = counted
            .iter()
            .filter_map(|it| it.newest)
            .map(|it| it.time)
            .max()?;
        let window_start = newest.minus(COMBINED_WINDOW);
        let in_window = |it: &Metered| it.newest.filter(|sample| sample.time >= window_start);
        let sum = |kind| {
            let of_kind = counted
                .iter()
                .filter(|it| it.kind == kind)
                .filter_map(in_window);
            of_kind
                .map(|it| it.power_w)
                .reduce(|sum, power_w| sum + power_w)
        };
        Some(Self {
            time: counted
                .iter()
                .filter_map(in_window)
                .map(|it| it.time)
                .min()?,
            delivery: sum(SensorKind::Delivery),
            return_delivery: sum(SensorKind::ReturnDelivery),
            production: sum(SensorKind::Production),
            charge: sum(SensorKind::Charge),
            discharge: sum(SensorKind::Discharge),
            consumption: consumption(sensors)
                .map(|it| it.power_w)
                .or_else(|| sum(SensorKind::Consumption)),
        })
    }
}

/// The combined sensor `consumption`: never below 0, of the oldest sample's time; `None` unless all
/// contributors measured within [`COMBINED_WINDOW`] of each other, and without a main meter.
#[must_use]
pub fn consumption(sensors: &[Metered]) -> Option<Sample> {
    let contributors = contributors(sensors);
    if !has_main_meter(contributors.iter().map(|it| it.kind)) {
        return None;
    }
    let samples: Vec<Sample> = contributors
        .iter()
        .map(|it| it.newest)
        .collect::<Option<_>>()?;
    let oldest = samples.iter().map(|it| it.time).min()?;
    let newest = samples.iter().map(|it| it.time).max()?;
    if oldest < newest.minus(COMBINED_WINDOW) {
        return None;
    }
    let signed = contributors
        .iter()
        .zip(&samples)
        .filter_map(|(it, sample)| {
            let factor = it.kind.consumption_factor()?;
            Some(i64::from(factor) * sample.power_w)
        });
    Some(Sample {
        time: oldest,
        power_w: signed.sum::<i64>().max(0),
    })
}

/// What the building's power is made of: what contributes to consumption, and consumption itself where it
/// is measured, which is where there is no main meter.
fn counted(sensors: &[Metered]) -> Vec<Metered> {
    let measured = !has_main_meter(sensors.iter().map(|it| it.kind));
    let counts = |it: &&Metered| {
        it.kind.consumption_factor().is_some() || measured && it.kind == SensorKind::Consumption
    };
    sensors.iter().filter(counts).copied().collect()
}

fn contributors(sensors: &[Metered]) -> Vec<Metered> {
    let contributes = |it: &&Metered| it.kind.consumption_factor().is_some();
    sensors.iter().filter(contributes).copied().collect()
}

#[cfg(test)]
mod tests;
