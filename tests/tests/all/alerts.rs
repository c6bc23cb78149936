//! Each alert rule fires on its fault and is silent without one: the shipped rules in a real Prometheus that scrapes
//! real processes.

#[path = "alerts/faults.rs"]
mod faults;
#[path = "alerts/rules.rs"]
mod rules;
#[path = "alerts/watched.rs"]
mod watched;
