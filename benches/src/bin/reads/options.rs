//! What can be typed.

use benches::files::Files;

/// Measures reads over HTTP on a database with history; needs release builds.
#[derive(Debug, clap::Parser)]
pub(crate) struct Options {
    #[command(flatten)]
    pub(crate) files: Files,
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
