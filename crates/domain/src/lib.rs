#![doc = include_str!("../README.md")]

pub mod bucket;
pub mod electricity;
pub mod grid_limit;
pub mod record;
pub mod rejection;
pub mod sensor;
pub mod time;
