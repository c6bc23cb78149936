//! Raw records go when their minute is final; what was made of them stays.

#[path = "retention/fixture.rs"]
pub(crate) mod fixture;
#[path = "retention/horizon.rs"]
mod horizon;
#[path = "retention/moving.rs"]
mod moving;
#[path = "retention/outliving.rs"]
mod outliving;
#[path = "retention/races.rs"]
mod races;
#[path = "retention/tables.rs"]
pub(crate) mod tables;
