#![doc = include_str!("../README.md")]

pub mod records;
pub mod typed;
