//! Sensors: what kinds there are, and which part of a telemetry record feeds which kind.

use crate::record::Section;

/// What a sensor measures.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SensorKind {
    /// Power taken from the grid.
    Delivery,
    /// Power given to the grid.
    ReturnDelivery,
    /// Power of the solar inverters.
    Production,
    /// Power that the building uses.
    Consumption,
    /// Power into the batteries.
    Charge,
    /// Power out of the batteries.
    Discharge,
    /// Heat, GJ.
    Heat,
    /// Water, m3.
    WaterVolume,
    /// Water, L/h.
    WaterFlow,
    /// Gas, m3.
    GasVolume,
    /// Degrees Celsius.
    Temperature,
    /// Percent.
    RelativeHumidity,
    /// A socket that charges cars.
    EvSocket,
    /// A value that users set.
    Setpoint,
}

impl SensorKind {
    /// All of them.
    pub const ALL: [Self; 14] = [
        Self::Delivery,
        Self::ReturnDelivery,
        Self::Production,
        Self::Consumption,
        Self::Charge,
        Self::Discharge,
        Self::Heat,
        Self::WaterVolume,
        Self::WaterFlow,
        Self::GasVolume,
        Self::Temperature,
        Self::RelativeHumidity,
        Self::EvSocket,
        Self::Setpoint,
    ];

    /// The word that the interface uses.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Delivery => "delivery",
            Self::ReturnDelivery => "return_delivery",
            Self::Production => "production",
            Self::Consumption => "consumption",
            Self::Charge => "charge",
            Self::Discharge => "discharge",
            Self::Heat => "heat",
            Self::WaterVolume => "water_volume",
            Self::WaterFlow => "water_flow",
            Self::GasVolume => "gas_volume",
            Self::Temperature => "temperature",
            Self::RelativeHumidity => "relative_humidity",
            Self::EvSocket => "ev_socket",
            Self::Setpoint => "setpoint",
        }
    }

    /// Reads the word that the interface uses.
    #[must_use]
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == word)
    }

    /// The unit of the sensor's values.
    #[must_use]
    pub const fn unit(self) -> &'static str {
        match self {
            Self::Delivery
            | Self::ReturnDelivery
            | Self::Production
            | Self::Consumption
            | Self::Charge
            | Self::Discharge
            | Self::EvSocket => "W",
            Self::Heat => "GJ",
            Self::WaterVolume | Self::GasVolume => "m3",
            Self::WaterFlow => "L/h",
            Self::Temperature | Self::Setpoint => "degrees Celsius",
            Self::RelativeHumidity => "percent",
        }
    }

    /// The energy method of the six electricity kinds, which is their own word.
    #[must_use]
    pub const fn energy_method(self) -> Option<&'static str> {
        match self {
            Self::Delivery
            | Self::ReturnDelivery
            | Self::Production
            | Self::Consumption
            | Self::Charge
            | Self::Discharge => Some(self.as_str()),
            Self::Heat
            | Self::WaterVolume
            | Self::WaterFlow
            | Self::GasVolume
            | Self::Temperature
            | Self::RelativeHumidity
            | Self::EvSocket
            | Self::Setpoint => None,
        }
    }

    /// Whether the electricity reads take the sensor: the six electricity kinds and car sockets.
    #[must_use]
    pub const fn is_electric(self) -> bool {
        self.energy_method().is_some() || matches!(self, Self::EvSocket)
    }

    /// Whether it has a value of the moment, other than power.
    #[must_use]
    pub const fn has_value(self) -> bool {
        matches!(
            self,
            Self::WaterFlow | Self::Temperature | Self::RelativeHumidity | Self::Setpoint
        )
    }

    /// Whether the comfort read takes the sensor.
    #[must_use]
    pub const fn is_comfort(self) -> bool {
        matches!(self, Self::Temperature | Self::RelativeHumidity)
    }

    /// The part of the telemetry record that feeds this kind, and which sign of its power.
    #[must_use]
    pub const fn telemetry_feed(self) -> Option<Feed> {
        Some(match self {
            Self::Delivery => Feed::new(Section::MainMeter, Sign::Positive),
            Self::ReturnDelivery => Feed::new(Section::MainMeter, Sign::Negative),
            Self::Charge => Feed::new(Section::Battery, Sign::Positive),
            Self::Discharge => Feed::new(Section::Battery, Sign::Negative),
            Self::Production => Feed::new(Section::Solar, Sign::Negative),
            Self::Consumption
            | Self::Heat
            | Self::WaterVolume
            | Self::WaterFlow
            | Self::GasVolume
            | Self::Temperature
            | Self::RelativeHumidity
            | Self::EvSocket
            | Self::Setpoint => return None,
        })
    }

    /// The kind's factor in the combined sensor `consumption`, if it contributes:
    /// consumption = delivery − return_delivery + production − charge + discharge.
    #[must_use]
    pub const fn consumption_factor(self) -> Option<i32> {
        match self {
            Self::Delivery | Self::Production | Self::Discharge => Some(1),
            Self::ReturnDelivery | Self::Charge => Some(-1),
            Self::Consumption
            | Self::Heat
            | Self::WaterVolume
            | Self::WaterFlow
            | Self::GasVolume
            | Self::Temperature
            | Self::RelativeHumidity
            | Self::EvSocket
            | Self::Setpoint => None,
        }
    }
}

/// Where a telemetry sensor's values come from: a section's power, or its negation, never below 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Feed {
    /// The section that measures.
    pub section: Section,
    /// The sign that counts.
    pub sign: Sign,
}

impl Feed {
    const fn new(section: Section, sign: Sign) -> Self {
        Self { section, sign }
    }
}

/// Which direction of a signed power a sensor shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sign {
    /// max(p, 0)
    Positive,
    /// max(−p, 0)
    Negative,
}

impl Sign {
    /// The part of `power_w` in this direction, in watt, at least 0.
    #[must_use]
    pub fn of(self, power_w: i32) -> i64 {
        let power_w = i64::from(power_w);
        match self {
            Self::Positive => power_w.max(0),
            Self::Negative => (-power_w).max(0),
        }
    }
}

/// The kinds that the service adds to a building by itself: of each section that telemetry has
/// reported, the kinds that the fleet file does not name, and the combined sensor `consumption` where
/// there is a main meter.
#[must_use]
pub fn service_kinds(named: &[SensorKind], reported: &[Section]) -> Vec<SensorKind> {
    let has_main_meter = reported.contains(&Section::MainMeter)
        || named.contains(&SensorKind::Delivery)
        || named.contains(&SensorKind::ReturnDelivery);
    SensorKind::ALL
        .into_iter()
        .filter(|kind| !named.contains(kind))
        .filter(|kind| match kind.telemetry_feed() {
            Some(feed) => reported.contains(&feed.section),
            None => *kind == SensorKind::Consumption && has_main_meter,
        })
        .collect()
}
