//! What the service tells while something is wrong: readiness, metrics, its log, and what it finds at its start.

#[path = "telling/broker.rs"]
mod broker;
#[path = "telling/cause.rs"]
mod cause;
#[path = "telling/database.rs"]
mod database;
#[path = "telling/limits.rs"]
mod limits;
#[path = "telling/log.rs"]
mod log;
#[path = "telling/logs.rs"]
mod logs;
#[path = "telling/metrics.rs"]
mod metrics;
#[path = "telling/operators.rs"]
mod operators;

pub(crate) use cause::all_tell;
pub(crate) use log::set_topic;
