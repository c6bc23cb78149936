//! The realtime record as a struct for serde: what one would write without this project's decoder.

use serde::Deserialize;

/// A realtime record.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Record {
    /// Epoch seconds or milliseconds.
    pub time: f64,
    /// Grid connection.
    pub main_meter: Option<MainMeter>,
    /// All batteries.
    pub battery: Option<Battery>,
    /// All solar inverters.
    pub solar: Option<Solar>,
}

/// State of a section's device.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// Works as it should.
    Available,
    /// Works in part.
    Degraded,
    /// Gives no measurement.
    Unavailable,
}

/// The grid connection, watt.
#[derive(Debug, Deserialize)]
#[expect(missing_docs, reason = "the fields are those of domain::record")]
pub struct MainMeter {
    pub status: Status,
    pub active_power_w: Option<i32>,
}

/// All batteries, watt, seconds, percent.
#[derive(Debug, Deserialize)]
#[expect(missing_docs, reason = "the fields are those of domain::record")]
pub struct Battery {
    pub status: Status,
    pub active_power_w: Option<i32>,
    pub active_power_setpoint_w: Option<i32>,
    pub baseline_power_w: Option<i32>,
    pub soc: Option<f64>,
    pub charge_limit_w: Option<i32>,
    pub remaining_charge_time_s: Option<i32>,
    pub discharge_limit_w: Option<i32>,
    pub remaining_discharge_time_s: Option<i32>,
}

/// All solar inverters, watt.
#[derive(Debug, Deserialize)]
#[expect(missing_docs, reason = "the fields are those of domain::record")]
pub struct Solar {
    pub status: Status,
    pub active_power_w: Option<i32>,
    pub active_power_setpoint_w: Option<i32>,
    pub rated_power_w: Option<i32>,
    pub min_power_w: Option<i32>,
    pub max_power_w: Option<i32>,
    pub baseline_power_w: Option<i32>,
}
