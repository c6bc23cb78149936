//! What is desired of a building's controller (`decisions.md`, what controllers receive). A family
//! with nothing in force is left out. Ends are whole seconds since the epoch; without one an entry
//! holds until something new comes.

use crate::grid_limit::GridLimit;
use crate::time::Timestamp;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// The whole desired state of a building, without its revision.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Desired {
    /// All inverters together.
    pub inverters: Option<Inverters>,
    /// All batteries together.
    pub battery: Option<Battery>,
    /// The grid connection.
    pub grid_target: Option<GridTarget>,
    /// Car sockets, by sensor.
    pub ev_sockets: Vec<Socket>,
    /// Setpoints of the building management system.
    pub setpoints: Option<Setpoints>,
    /// Blocks that have not ended, by start.
    pub fcr: Vec<FcrBlock>,
    /// Occurrences that have not ended, by start.
    pub grid_limits: Vec<GridLimit>,
}

/// The most that the inverters may produce.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum InverterPower {
    /// Of what they can, 0 to 100.
    Percentage(f64),
    /// Watt.
    Watts(i32),
}

/// What holds when an inverter entry's time is over.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum Fallback {
    /// What the action says; it holds until something new comes.
    To(InverterPower),
    /// 100 percent: nothing is desired any more.
    FullPercentage,
    /// Any power: nothing is desired any more.
    UnlimitedWatts,
}

/// Power of all inverters.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Inverters {
    /// Who wished it.
    pub action_uuid: Uuid,
    /// The most that they may produce.
    pub power: InverterPower,
    /// Until when, and what then.
    pub end: Option<(Timestamp, Fallback)>,
    /// The building's `consumption_compensated_curtailment`, for the controller to act on.
    pub consumption_compensated: bool,
}

/// Charging or discharging, watt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum BatteryPower {
    /// Into the batteries.
    Charge(i32),
    /// Out of the batteries.
    Discharge(i32),
}

/// Power of all batteries.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Battery {
    /// Who wished it.
    pub action_uuid: Uuid,
    /// Direction and power.
    pub power: BatteryPower,
    /// When it is over.
    pub until: Timestamp,
}

/// Import or export, watt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum GridTargetPower {
    /// From the grid.
    Delivery(i32),
    /// To the grid.
    ReturnDelivery(i32),
}

impl GridTargetPower {
    /// What the strictest of the limits in force at `now` leave of it: a target outside of them is
    /// the limit itself.
    #[must_use]
    pub fn within(self, limits: &[GridLimit], now: Timestamp) -> Self {
        let in_force = limits.iter().filter(|it| it.start <= now && now < it.end);
        let strictest =
            |target: i32, limit: fn(&GridLimit) -> i32| in_force.map(limit).fold(target, i32::min);
        match self {
            Self::Delivery(watts) => {
                Self::Delivery(strictest(watts, |limit| limit.delivery_limit_watts))
            }
            Self::ReturnDelivery(watts) => {
                Self::ReturnDelivery(strictest(watts, |limit| limit.return_delivery_limit_watts))
            }
        }
    }
}

/// Power of the grid connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GridTarget {
    /// Who wished it.
    pub action_uuid: Uuid,
    /// What was wished.
    pub power: GridTargetPower,
    /// What the grid limits in force leave of it; in the same direction.
    pub effective: GridTargetPower,
    /// When it is over.
    pub until: Timestamp,
}

/// Charging power of a car socket.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Socket {
    /// Who wished it.
    pub action_uuid: Uuid,
    /// The socket.
    pub sensor_uuid: Uuid,
    /// Watt.
    pub charge_watts: i32,
    /// When it is over.
    pub until: Timestamp,
}

/// One setpoint.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SetpointValue {
    /// The setpoint.
    pub sensor_uuid: Uuid,
    /// In the sensor's unit.
    pub value: f64,
}

/// Setpoints, and what becomes of them when the kill switch fires.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Setpoints {
    /// The newest command.
    pub action_uuid: Uuid,
    /// What holds; empty when nothing was said.
    pub values: Vec<SetpointValue>,
    /// When the kill switch fires, and what then; `None` when it is disabled or has fired.
    pub end: Option<(Timestamp, Vec<SetpointValue>)>,
}

/// A block of frequency containment reserve.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FcrBlock {
    /// Who wished it.
    pub action_uuid: Uuid,
    /// Awarded power, watt.
    pub power_watts: i32,
    /// First moment.
    pub start: Timestamp,
    /// First moment after it.
    pub stop: Timestamp,
}
