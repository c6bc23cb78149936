//! The one building of the document's examples, so that they fit together.

/// The moment in which the examples are answered: 2023-11-14T22:13:20Z.
pub(crate) const NOW: i64 = 1_700_000_000;

pub(crate) const BUILDING: &str = "6f1f0a0e-2c7c-4c67-9e0b-3a5d2a0f9b11";

/// Its hubs.
pub(crate) const METER_HUB: &str = "b1a7c1de-51a4-4b0e-8d6c-0d1f5a7e2c01";
pub(crate) const SOLAR_HUB: &str = "b1a7c1de-51a4-4b0e-8d6c-0d1f5a7e2c02";

pub(crate) const OFFICE_HUB: &str = "b1a7c1de-51a4-4b0e-8d6c-0d1f5a7e2c03";

/// Its sensors.
pub(crate) const DELIVERY: &str = "0c9a4b52-7e1d-4f3a-a2b6-5d8e9f0a1b01";
pub(crate) const RETURN_DELIVERY: &str = "0c9a4b52-7e1d-4f3a-a2b6-5d8e9f0a1b02";
pub(crate) const PRODUCTION: &str = "0c9a4b52-7e1d-4f3a-a2b6-5d8e9f0a1b03";
pub(crate) const CONSUMPTION: &str = "0c9a4b52-7e1d-4f3a-a2b6-5d8e9f0a1b04";

pub(crate) const TEMPERATURE: &str = "0c9a4b52-7e1d-4f3a-a2b6-5d8e9f0a1b05";
pub(crate) const TEMPERATURE_ID: i64 = 5;

/// When its day begins: midnight in Amsterdam.
pub(crate) const TODAY: i64 = 1_699_916_400;
pub(crate) const TOMORROW: i64 = TODAY + 86_400;
pub(crate) const YESTERDAY: i64 = TODAY - 86_400;

/// A socket for cars, and a setpoint of its building management system.
pub(crate) const SOCKET: &str = "0c9a4b52-7e1d-4f3a-a2b6-5d8e9f0a1b06";
pub(crate) const SETPOINT: &str = "0c9a4b52-7e1d-4f3a-a2b6-5d8e9f0a1b07";
pub(crate) const CHARGER_HUB: &str = "b1a7c1de-51a4-4b0e-8d6c-0d1f5a7e2c04";

/// Since when its controller has been connected.
pub(crate) const ONLINE_SINCE: i64 = NOW - 3_600;

/// An action that its controller has confirmed.
pub(crate) const ACTION: &str = "4e8b1d90-6a2f-4c37-9b5e-1f7d0c3a8e21";

/// When its newest measurement was taken.
pub(crate) const MEASURED: i64 = NOW - 5;

/// An occurrence of its grid limit schedule, and the hour for which it holds.
pub(crate) const GRID_LIMIT: &str = "9d2e6c34-1b7f-4a58-b0c3-7e4f8a9b0c11";
pub(crate) const LIMIT_START: i64 = 1_700_006_400;
pub(crate) const LIMIT_END: i64 = 1_700_010_000;

/// What tokens look like; these are none.
pub(crate) const ACCESS_TOKEN: &str =
    "eyJhbGciOiJIUzI1NiIsImtpZCI6IjEifQ.eyJ0eXAiOiJhY2Nlc3MifQ.c2ln";
pub(crate) const REFRESH_TOKEN: &str =
    "eyJhbGciOiJIUzI1NiIsImtpZCI6IjEifQ.eyJ0eXAiOiJyZWZyZXNoIn0.c2ln";
