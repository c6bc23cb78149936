#![doc = include_str!("../README.md")]

mod admin;
mod check;
mod command_line;
mod dead_letters;
mod demo;
mod direct;
mod documents;
mod failure;
pub mod fleet_file;
mod https;
mod migrate;
mod output;
mod password;
mod process;
pub mod role;
mod schemas;
pub mod settings;
mod simulate;

pub use command_line::run;
pub use failure::Failure;
