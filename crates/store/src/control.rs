//! Control: wishes, what is desired because of them, and what becomes of them.
//!
//! Whoever changes a building's control state or the fate of one of its actions has locked its row of
//! `control_state`, and does all of it in one transaction: state, fates, and what is to be
//! published. Who takes several passes over those that are locked.

mod act;
mod aside;
mod clear;
mod due;
mod fate;
mod kept;
mod listen;
mod publishing;
mod repeat;
mod report;
mod watch;

pub use act::{Acted, Facts, Wish};
pub use due::Executed;
pub use listen::Listener;
pub use publishing::{Publication, Publishing, Unconfirmed};

pub(crate) use aside::Aside;
pub(crate) use due::surroundings_changed;
pub(crate) use kept::{Kept, save};

/// Rows that one transaction takes: some ten milliseconds of work, so that an action that comes meanwhile
/// does not wait long.
pub const CONTROL_LIMIT: i64 = 250;
