#![doc = include_str!("../README.md")]

mod battery;
pub mod controller;
mod energy;
pub mod fault;
pub mod fleet;
mod instruments;
mod inverters;
mod load;
mod meter;
mod noise;
mod obedience;
mod orders;
mod payload;
pub mod plan;
pub mod run;
pub mod scenario;
pub mod summary;
mod sun;

pub use controller::{Controller, Sample};
pub use fleet::Fleet;
pub use plan::{Kind, Plan, Publication};
pub use run::{Config, Failure, Pace, run};
pub use scenario::{Answers, BadScenario, Limit, Scenario, Shares, Topics};
pub use summary::{Counts, Summary};
