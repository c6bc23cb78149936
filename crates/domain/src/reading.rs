//! What controllers send besides telemetry: readings of single sensors, key-values, what they did with the
//! desired state, presence.

use crate::control::Outcome;
use crate::electricity::Source;
use crate::record::TelemetryRecord;
use crate::register::takes_own_register;
use crate::sensor::SensorKind;
use crate::time::Timestamp;
use uuid::Uuid;

/// One accepted message of a controller, as what it says.
#[derive(Clone, Debug, PartialEq)]
pub enum Record {
    /// Realtime telemetry of the whole building.
    Telemetry(TelemetryRecord),
    /// Readings of single sensors.
    Readings(Readings),
    /// Key-value registrations.
    KeyValues(KeyValues),
    /// What the controller did with the desired state.
    Reported(Report),
    /// Whether the controller is connected; the moment of receipt is its time.
    Presence {
        /// It is.
        online: bool,
    },
}

impl Record {
    /// How many kinds there are.
    pub const KINDS: usize = 5;

    /// The place of its kind, in the order of declaration: below [`Self::KINDS`].
    #[must_use]
    pub const fn kind(&self) -> usize {
        match self {
            Self::Telemetry(_) => 0,
            Self::Readings(_) => 1,
            Self::KeyValues(_) => 2,
            Self::Reported(_) => 3,
            Self::Presence { .. } => 4,
        }
    }

    /// When the controller measured; presence does not say.
    #[must_use]
    pub const fn time(&self) -> Option<Timestamp> {
        match self {
            Self::Telemetry(record) => Some(record.time),
            Self::Readings(readings) => Some(readings.time),
            Self::KeyValues(key_values) => Some(key_values.time),
            Self::Reported(report) => Some(report.time),
            Self::Presence { .. } => None,
        }
    }
}

/// Readings of single sensors at one moment.
#[derive(Clone, Debug, PartialEq)]
pub struct Readings {
    /// When they were taken.
    pub time: Timestamp,
    /// In the message's order.
    pub readings: Vec<SensorReading>,
}

/// What one sensor read.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SensorReading {
    /// The sensor, which may be another building's.
    pub sensor_uuid: Uuid,
    /// Watt.
    pub power_w: Option<i32>,
    /// The meter's register, in its own unit (kWh, m3, GJ), at least 0.
    pub meter_reading: Option<f64>,
    /// In the sensor's unit.
    pub value: Option<f64>,
}

/// Key-value registrations of one moment.
#[derive(Clone, Debug, PartialEq)]
pub struct KeyValues {
    /// When they were registered.
    pub time: Timestamp,
    /// Each key once.
    pub values: Vec<(String, Scalar)>,
}

/// What a key may be registered with.
#[derive(Clone, Debug, PartialEq)]
pub enum Scalar {
    /// A text without NUL.
    Text(String),
    /// A finite number.
    Number(f64),
    /// True or false.
    Boolean(bool),
}

/// What a controller did with the desired state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// When it says so.
    pub time: Timestamp,
    /// The revision of the desired document that it reports on; any number, as far as the schema goes.
    pub revision: i64,
    /// What it did with single actions, in the message's order; an action may come again.
    pub outcomes: Vec<ReportedOutcome>,
}

/// What a controller did with an action.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReportedOutcome {
    /// The action, which may be another building's.
    pub action_uuid: Uuid,
    /// What it did.
    pub outcome: Outcome,
    /// For people; a text without NUL.
    pub detail: Option<String>,
}

/// Which field of a reading a sensor does not take, as the record calls it; none where it takes all
/// that is there.
///
/// Power is for electric sensors that neither telemetry feeds nor the service combines; registers are
/// for meters, which a combined sensor is not; values are for the rest (`decisions.md`: `unknown_sensor`
/// when the sensor takes no such value).
#[must_use]
pub fn field_not_taken(
    kind: SensorKind,
    source: Source,
    reading: &SensorReading,
) -> Option<&'static str> {
    let own_power = kind.is_electric() && source == Source::Own;
    if reading.power_w.is_some() && !own_power {
        return Some("power_w");
    }
    if reading.meter_reading.is_some() && !takes_own_register(kind, source) {
        return Some("meter_reading");
    }
    if reading.value.is_some() && !kind.has_value() {
        return Some("value");
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::electricity::sources;

    fn taken(kind: SensorKind, source: Source) -> Vec<&'static str> {
        let reading = |power_w, meter_reading, value| SensorReading {
            sensor_uuid: Uuid::nil(),
            power_w,
            meter_reading,
            value,
        };
        let fields = [
            ("power_w", reading(Some(1), None, None)),
            ("meter_reading", reading(None, Some(1.0), None)),
            ("value", reading(None, None, Some(1.0))),
        ];
        let taken = fields
            .into_iter()
            .filter(|(_, reading)| field_not_taken(kind, source, reading).is_none());
        taken.map(|(name, _)| name).collect()
    }

    #[test]
    fn a_sensor_takes_what_it_measures_and_nothing_else() {
        use SensorKind::*;
        let kinds = [Delivery, Delivery, Consumption, EvSocket, Heat, GasVolume];
        let of: Vec<_> = kinds.into_iter().zip(sources(&kinds)).collect();
        assert_eq!(
            taken(of[0].0, of[0].1),
            ["meter_reading"],
            "fed by telemetry"
        );
        assert_eq!(taken(of[1].0, of[1].1), ["power_w", "meter_reading"]);
        assert!(taken(of[2].0, of[2].1).is_empty(), "combined");
        assert_eq!(taken(of[3].0, of[3].1), ["power_w", "meter_reading"]);
        for (kind, source) in &of[4..] {
            assert_eq!(taken(*kind, *source), ["meter_reading"]);
        }
        for kind in [Temperature, RelativeHumidity, WaterFlow, Setpoint] {
            assert_eq!(taken(kind, Source::Own), ["value"]);
        }
        assert_eq!(taken(WaterVolume, Source::Own), ["meter_reading"]);
    }
}
