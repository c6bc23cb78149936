//! What a user may wish: one of seven families (`interface.md`, action endpoint).

use super::desired::{BatteryPower, GridTargetPower, InverterPower, SetpointValue};
use crate::time::Timestamp;
use uuid::Uuid;

/// The shortest timeout of inverters, battery and car sockets, seconds (`interface.md`, limits).
pub const SHORTEST_TIMEOUT_S: i32 = 60;

/// The shortest duration of a grid target, seconds (`decisions.md`, actions).
pub const SHORTEST_DURATION_S: i32 = 1;

/// The longest kill switch, minutes: a week (`decisions.md`, actions).
pub const LONGEST_KILL_SWITCH_MINUTES: i32 = 10_080;

/// Most car sockets of one action (`decisions.md`, actions).
pub const MOST_SOCKETS: usize = 100;

/// A wish that breaks no rule which can be told without the building's control state: watts are 0 or
/// more, percentages 0 to 100, times within their bounds, no sensor twice.
#[derive(Clone, Debug, PartialEq)]
pub enum Action {
    /// Power of all inverters together, by percentage or by watts.
    Inverters {
        /// The most that they may produce.
        power: InverterPower,
        /// For how long.
        timeout: InverterTimeout,
        /// What holds afterwards; of the same kind as `power`. Only with a timeout of its own.
        fallback: Option<InverterPower>,
    },
    /// Power of all batteries together.
    Battery {
        /// Charging or discharging.
        power: BatteryPower,
        /// For how long, seconds.
        timeout_s: i32,
    },
    /// Power of the grid connection.
    GridTarget {
        /// Into or out of the building.
        power: GridTargetPower,
        /// For how long, seconds.
        duration_s: i32,
    },
    /// Ends the grid target.
    GridTargetCancel,
    /// Charging power of single car sockets; at least one, none twice.
    EvSockets(Vec<SocketWish>),
    /// Setpoints of a building management system, with their kill switch. At least one is there.
    Setpoints {
        /// A new time of the kill switch, minutes; 0 disables it, `None` leaves it.
        fallback_timeout_minutes: Option<i32>,
        /// What shall hold now, in place of all that held; `None` leaves it.
        values: Option<Vec<SetpointValue>>,
        /// What shall hold when the kill switch fires, in place of what was said before.
        fallback: Option<Vec<SetpointValue>>,
    },
    /// A block of frequency containment reserve, in place of any with the same start.
    FcrPlan {
        /// First moment of the block.
        start: Timestamp,
        /// First moment after it.
        stop: Timestamp,
        /// Awarded power, watt.
        power_watts: i32,
    },
    /// No block with this start.
    FcrCancel {
        /// First moment of the block.
        start: Timestamp,
    },
}

/// The timeout of an inverter action: once given it remains in use (`interface.md`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InverterTimeout {
    /// The one given last; none when there is none.
    Sticky,
    /// This many seconds, now and from now on.
    Seconds(i32),
    /// None, now and from now on.
    Cleared,
}

/// What a car socket shall charge with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SocketWish {
    /// The socket.
    pub sensor_uuid: Uuid,
    /// Charging power, watt.
    pub charge_watts: i32,
    /// For how long, seconds.
    pub timeout_s: i32,
}

impl Action {
    /// The family's name, as the desired document has it.
    #[must_use]
    pub const fn family(&self) -> &'static str {
        match self {
            Self::Inverters { .. } => "inverters",
            Self::Battery { .. } => "battery",
            Self::GridTarget { .. } | Self::GridTargetCancel => "grid_target",
            Self::EvSockets(_) => "ev_sockets",
            Self::Setpoints { .. } => "setpoints",
            Self::FcrPlan { .. } | Self::FcrCancel { .. } => "fcr",
        }
    }
}
