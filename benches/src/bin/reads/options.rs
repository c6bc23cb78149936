//! What can be typed.

use crate::Outcome;
use std::path::{Path, PathBuf};

/// Measures reads over HTTP on a database with history; needs release builds.
#[derive(Debug, clap::Parser)]
pub(crate) struct Options {
    /// The wattline program; without it the one beside this program.
    #[arg(long, value_name = "PATH")]
    wattline: Option<PathBuf>,
    /// Buildings with history, at least 20.
    #[arg(long, default_value_t = 1_000, value_parser = clap::value_parser!(u32).range(20..=100_000))]
    pub(crate) buildings: u32,
    /// Days of history.
    #[arg(long, default_value_t = 30, value_parser = clap::value_parser!(u32).range(4..=3_650))]
    pub(crate) days: u32,
    /// Requests a second.
    #[arg(long, default_value_t = 500, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub(crate) rate: u32,
    /// Seconds of the run.
    #[arg(long, default_value_t = 60, value_parser = clap::value_parser!(u32).range(1..=3_600))]
    pub(crate) seconds: u32,
}

impl Options {
    /// The program to measure.
    pub(crate) fn wattline(&self) -> Outcome<PathBuf> {
        let path = match &self.wattline {
            Some(path) => path.clone(),
            None => own_folder()?.join("wattline"),
        };
        path.canonicalize().map_err(|error| {
            let path = path.display();
            format!("{path}: {error}: build it with cargo build --release --bin wattline").into()
        })
    }

    /// Where the figures go.
    pub(crate) fn json(&self) -> Outcome<PathBuf> {
        let target = own_folder()?;
        let target = target
            .parent()
            .ok_or("this program is in no target folder")?;
        Ok(target.join("bench/reads.json"))
    }
}

fn own_folder() -> Outcome<PathBuf> {
    let program = std::env::current_exe()?;
    let folder = program.parent().map(Path::to_owned);
    Ok(folder.ok_or("this program is in no folder")?)
}
