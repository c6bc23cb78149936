//! The schema of an action's body.

#![expect(
    dead_code,
    reason = "bodies are taken apart by extract::fields; this is their schema"
)]

use schemars::{JsonSchema, Schema};
use serde_json::json;
use uuid::Uuid;

/// The properties of exactly one family.
#[derive(JsonSchema)]
#[schemars(untagged)]
pub(super) enum ActionRequest {
    InvertersByPercentage(InvertersByPercentage),
    InvertersByWatts(InvertersByWatts),
    Battery(Battery),
    GridTarget(GridTarget),
    GridTargetCancellation(GridTargetCancellation),
    EvSockets(EvSockets),
    Setpoints(Setpoints),
    Fcr(Fcr),
}

/// Power of all inverters, as a share of what they can.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(super) struct InvertersByPercentage {
    #[schemars(range(min = 0, max = 100))]
    inverters_set_power_percentage: f64,
    /// Seconds, from now on for every inverter action; null clears it.
    #[schemars(transform = or_null)]
    inverters_set_power_timeout: Option<i32>,
    /// What holds after the timeout; needs it in the same request.
    #[schemars(range(min = 0, max = 100))]
    inverters_set_power_timeout_percentage: Option<f64>,
}

/// Power of all inverters together, watt.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(super) struct InvertersByWatts {
    #[schemars(range(min = 0, max = 2_147_483_647))]
    inverters_set_power_watts: i32,
    /// Seconds, from now on for every inverter action; null clears it.
    #[schemars(transform = or_null)]
    inverters_set_power_timeout: Option<i32>,
    /// What holds after the timeout; needs it in the same request.
    #[schemars(range(min = 0, max = 2_147_483_647))]
    inverters_set_power_timeout_watts: Option<i32>,
}

/// Power of all batteries together: one of the two.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(super) struct Battery {
    #[schemars(range(min = 0, max = 2_147_483_647))]
    battery_set_power_charge_watts: Option<i32>,
    #[schemars(range(min = 0, max = 2_147_483_647))]
    battery_set_power_discharge_watts: Option<i32>,
    /// Seconds.
    #[schemars(range(min = 60, max = 2_147_483_647))]
    battery_set_power_timeout: i32,
}

/// Power of the grid connection: one of the two.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(super) struct GridTarget {
    /// From the grid, watt.
    #[schemars(range(min = 0, max = 2_147_483_647))]
    grid_target_delivery_watts: Option<i32>,
    /// To the grid, watt.
    #[schemars(range(min = 0, max = 2_147_483_647))]
    grid_target_return_delivery_watts: Option<i32>,
    /// Seconds.
    #[schemars(range(min = 1, max = 2_147_483_647))]
    grid_target_duration: i32,
}

/// Ends the grid target.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(super) struct GridTargetCancellation {
    #[schemars(extend("const" = true))]
    grid_target_cancel: bool,
}

/// Charging power of car sockets, none twice.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(super) struct EvSockets {
    #[schemars(length(min = 1, max = 100))]
    ev_sockets_update: Vec<EvSocket>,
}

/// Charging power of a car socket.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
struct EvSocket {
    /// A sensor of the building of kind `ev_socket`.
    sensor_uuid: Uuid,
    #[schemars(range(min = 0, max = 2_147_483_647))]
    ev_socket_set_power_charge_watts: i32,
    /// Seconds.
    #[schemars(range(min = 60, max = 2_147_483_647))]
    ev_socket_set_power_timeout: i32,
}

/// Setpoints of the building management system.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(super) struct Setpoints {
    setpoints_update: SetpointsUpdate,
}

/// At least one of these.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields, extend("minProperties" = 1))]
struct SetpointsUpdate {
    /// The kill switch's time; 0 disables it.
    #[schemars(range(min = 0, max = 10_080))]
    fallback_timeout_minutes: Option<i32>,
    /// What holds from now on, instead of all that held; no sensor twice.
    #[schemars(length(max = 1_000))]
    setpoints: Option<Vec<Setpoint>>,
    /// What holds when the kill switch fires, instead of what was said before; no sensor twice.
    #[schemars(length(max = 1_000))]
    fallback_setpoints: Option<Vec<Setpoint>>,
}

/// The value of a setpoint.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
struct Setpoint {
    /// A sensor of the building of kind `setpoint`.
    sensor_uuid: Uuid,
    value: f64,
}

/// A block of frequency containment reserve.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(super) struct Fcr {
    fcr_planning: FcrPlanning,
}

/// From one boundary to the next.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
struct FcrPlanning {
    /// Awarded power, watt.
    #[schemars(range(min = 0, max = 2_147_483_647))]
    power: i32,
    /// Epoch seconds, in the future, at most 400 days ahead.
    #[schemars(range(min = -2_147_483_647, max = 2_147_483_647))]
    start_timestamp: i32,
    /// Epoch seconds.
    #[schemars(range(min = -2_147_483_647, max = 2_147_483_647))]
    stop_timestamp: i32,
    /// False cancels a block that was planned before.
    enabled: bool,
}

/// A timeout, or null.
fn or_null(schema: &mut Schema) {
    schema.remove("type");
    schema.remove("format");
    let timeout = json!({"type": "integer", "minimum": 60, "maximum": 2_147_483_647});
    schema.insert("oneOf".to_owned(), json!([timeout, {"type": "null"}]));
}
