//! Control: what users wish of a building, what is therefore desired of its controller, and what
//! becomes of each wish.
//!
//! An [`Action`] is a wish that breaks no rule. [`State::apply`] takes it into the building's
//! control state, [`State::advance`] ends what is over; both tell which actions that ended, and
//! [`Fate`] is what its user sees of it. The desired state is a function of the history: of the
//! actions, the moments and what the controller answered, in their order.

pub mod action;
pub mod desired;
pub mod fate;
pub mod fcr;
pub mod seen;
pub mod state;

pub use action::{Action, InverterTimeout};
pub use desired::{
    Battery, BatteryPower, Desired, Fallback, FcrBlock, GridTarget, GridTargetPower, InverterPower,
    Inverters, SetpointValue, Setpoints, Socket,
};
pub use fate::{Fate, Happening, Outcome, Status};
pub use state::{Cause, Changed, Ended, State};
