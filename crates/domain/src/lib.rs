#![doc = include_str!("../README.md")]

pub mod bucket;
pub mod calendar;
pub mod control;
pub mod electricity;
pub mod grid_limit;
pub mod name;
pub mod reading;
pub mod record;
pub mod register;
pub mod rejection;
pub mod sensor;
pub mod time;
