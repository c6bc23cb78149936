//! What each fuzz target asserts, as functions of bytes, so that kept inputs are held against them without a fuzzer too.

pub mod action;
pub mod decoder;
pub mod envelope;
pub mod fleet_file;
pub mod query;
pub mod token;
pub mod validate;

#[cfg(test)]
mod kept;
