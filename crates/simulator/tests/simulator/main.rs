//! What the simulator promises to those who publish with it.

#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]

mod obedience;
mod plan;
mod reports;
mod run;
mod stub_broker;
