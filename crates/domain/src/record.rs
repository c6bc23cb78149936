//! The realtime telemetry record, schema 1.0.0, as columns.

use crate::time::Timestamp;

/// What a controller says of a section's device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Status {
    /// Works as it should.
    Available,
    /// Works in part; its measurements still count.
    Degraded,
    /// Gives no measurement, whatever else the section says.
    Unavailable,
}

impl Status {
    /// All of them, in the specification's order.
    pub const ALL: [Self; 3] = [Self::Available, Self::Degraded, Self::Unavailable];

    /// The word that records use.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Available => "available",
            Self::Degraded => "degraded",
            Self::Unavailable => "unavailable",
        }
    }

    /// Reads the word that records use.
    #[must_use]
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|status| status.as_str() == word)
    }
}

/// One accepted realtime record: powers in watt, times in seconds, charge in percent.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TelemetryRecord {
    /// When the controller measured, in microseconds.
    pub time: Timestamp,
    /// Grid connection, if the record has the section.
    pub main_meter: Option<MainMeter>,
    /// All batteries together, if the record has the section.
    pub battery: Option<Battery>,
    /// All solar inverters together, if the record has the section.
    pub solar: Option<Solar>,
}

/// The grid connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MainMeter {
    /// State of the meter.
    pub status: Status,
    /// Import positive, export negative.
    pub active_power_w: Option<i32>,
}

/// All batteries of the building together.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Battery {
    /// State of the batteries.
    pub status: Status,
    /// Charging positive, discharging negative.
    pub active_power_w: Option<i32>,
    /// Charging positive, discharging negative.
    pub active_power_setpoint_w: Option<i32>,
    /// Power without active steering (`null` in the record reads as absent).
    pub baseline_power_w: Option<i32>,
    /// Mean state of charge, 0 to 100 percent.
    pub soc_percent: Option<f64>,
    /// At least 0.
    pub charge_limit_w: Option<i32>,
    /// At least 0.
    pub remaining_charge_time_s: Option<i32>,
    /// At least 0.
    pub discharge_limit_w: Option<i32>,
    /// At least 0.
    pub remaining_discharge_time_s: Option<i32>,
}

/// All solar inverters of the building together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Solar {
    /// State of the inverters.
    pub status: Status,
    /// Production negative.
    pub active_power_w: Option<i32>,
    /// At most 0.
    pub active_power_setpoint_w: Option<i32>,
    /// At least 0.
    pub rated_power_w: Option<i32>,
    /// Full production capacity, negative (`null` in the record reads as absent).
    pub min_power_w: Option<i32>,
    /// Production floor, negative (`null` in the record reads as absent).
    pub max_power_w: Option<i32>,
    /// Power without steering.
    pub baseline_power_w: Option<i32>,
}

/// A part of the record that measures one power.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Section {
    /// The grid connection.
    MainMeter,
    /// All batteries.
    Battery,
    /// All solar inverters.
    Solar,
}

impl Section {
    /// All of them, in the record's order.
    pub const ALL: [Self; 3] = [Self::MainMeter, Self::Battery, Self::Solar];
}

impl TelemetryRecord {
    /// Whether the record has the section at all.
    #[must_use]
    pub const fn has(&self, section: Section) -> bool {
        match section {
            Section::MainMeter => self.main_meter.is_some(),
            Section::Battery => self.battery.is_some(),
            Section::Solar => self.solar.is_some(),
        }
    }

    /// The section's measurement in watt: its `active_power_w`, unless its status is `unavailable`.
    #[must_use]
    pub fn measurement(&self, section: Section) -> Option<i32> {
        let (status, power) = match section {
            Section::MainMeter => {
                let section = self.main_meter?;
                (section.status, section.active_power_w)
            }
            Section::Battery => {
                let section = self.battery?;
                (section.status, section.active_power_w)
            }
            Section::Solar => {
                let section = self.solar?;
                (section.status, section.active_power_w)
            }
        };
        match status {
            Status::Available | Status::Degraded => power,
            Status::Unavailable => None,
        }
    }
}
