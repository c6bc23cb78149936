#![doc = include_str!("../README.md")]

pub mod asyncapi;
pub mod decode;
pub mod desired;
pub mod envelope;
pub mod json;
mod rfc3339;
pub mod schema;
pub mod topic;
pub mod validate;
