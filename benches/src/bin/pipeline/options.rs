//! What can be typed.

use benches::files::Files;

/// Measures the whole pipeline on this machine, with private servers; needs release builds.
#[derive(Debug, clap::Parser)]
pub(crate) struct Options {
    #[command(flatten)]
    pub(crate) files: Files,
    /// Records a second of the sustained run; a little more than the target, so that the time until the
    /// last one is stored counts as well.
    #[arg(long, default_value_t = 5_200, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub(crate) rate: u32,
    /// Seconds of the sustained run.
    #[arg(long, default_value_t = 60, value_parser = clap::value_parser!(u64).range(1..=3_600))]
    pub(crate) seconds: u64,
    /// Records a second while latency is measured.
    #[arg(long, default_value_t = 1_000, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub(crate) latency_rate: u32,
    /// Seconds of the latency run.
    #[arg(long, default_value_t = 30, value_parser = clap::value_parser!(u64).range(1..=3_600))]
    pub(crate) latency_seconds: u64,
    /// Buildings of the fleet.
    #[arg(long, default_value_t = 1_000)]
    pub(crate) buildings: usize,
    /// MQTT connections of the fleet.
    #[arg(long, default_value_t = 4)]
    pub(crate) connections: u16,
    /// Also publishes this many records without waiting, to find the most that goes through (the broker
    /// queues up to a million).
    #[arg(long, value_name = "RECORDS", num_args = 0..=1, default_missing_value = "400000",
          value_parser = clap::value_parser!(u64).range(1..=900_000))]
    pub(crate) maximum: Option<u64>,
    /// Also ends the aggregator for so many seconds, at the rate of the latency run, and measures how what piled up is
    /// made good.
    #[arg(long, value_name = "SECONDS", num_args = 0..=1, default_missing_value = "600",
          value_parser = clap::value_parser!(u64).range(10..=3_600))]
    pub(crate) outage: Option<u64>,
    /// Takes PostgreSQL without TimescaleDB.
    #[arg(long)]
    pub(crate) plain: bool,
}
