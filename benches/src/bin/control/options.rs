//! What can be typed.

use benches::files::Files;

/// Measures control on this machine, with private servers; needs release builds.
#[derive(Debug, clap::Parser)]
pub(crate) struct Options {
    #[command(flatten)]
    pub(crate) files: Files,
    /// Actions a second.
    #[arg(long, default_value_t = 200, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub(crate) rate: u32,
    /// Seconds of the run with actions; the access tokens hold no longer.
    #[arg(long, default_value_t = 30, value_parser = clap::value_parser!(u32).range(1..=600))]
    pub(crate) seconds: u32,
    /// Buildings that actions are spread over, at most all.
    #[arg(long, default_value_t = 1_000, value_parser = clap::value_parser!(u32).range(20..=10_000))]
    pub(crate) acted: u32,
    /// All buildings; each has three running timeouts in the runs with ends.
    #[arg(long, default_value_t = 10_000, value_parser = clap::value_parser!(u32).range(20..=100_000))]
    pub(crate) buildings: u32,
    /// Seconds that the ends are spread over.
    #[arg(long, default_value_t = 60, value_parser = clap::value_parser!(u32).range(3..=3_600))]
    pub(crate) spread: u32,
    /// Seconds that the ends are spread over in the run with a burst.
    #[arg(long, default_value_t = 10, value_parser = clap::value_parser!(u32).range(3..=3_600))]
    pub(crate) burst: u32,
    /// Seconds from the first timeout put in until the first end, enough for all to be put in and published.
    #[arg(long, default_value_t = 120, value_parser = clap::value_parser!(u32).range(5..=3_600))]
    pub(crate) lead: u32,
}
