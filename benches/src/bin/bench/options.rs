//! What can be typed.

use benches::Outcome;
use benches::files::{Files, beside};
use std::path::PathBuf;

/// Measures whole processes on this machine, with private servers; needs release builds.
#[derive(Debug, clap::Parser)]
pub(crate) struct Options {
    /// What is measured, in this order; all of it when nothing is named.
    #[arg(value_enum)]
    pub(crate) works: Vec<Work>,
    #[command(flatten)]
    pub(crate) files: Files,
    /// Runs, of which the figures are the medians; the reads have one, since theirs takes minutes.
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u16).range(1..=100))]
    pub(crate) runs: u16,
    /// Records of a run of the bridge; a run into the database has half as many, and the reads' history a building for
    /// each thousand. The broker queues up to a million.
    #[arg(long, default_value_t = 1_000_000, value_parser = clap::value_parser!(u32).range(2..=10_000_000))]
    pub(crate) records: u32,
    /// Buildings of the fleet.
    #[arg(long, default_value_t = 1_000)]
    pub(crate) buildings: usize,
    /// A shell's command that runs in the place of the bridge, before ours.
    #[arg(long, value_name = "COMMAND")]
    pub(crate) contender: Option<String>,
    /// The plain bridge, which the bridge is measured beside when no contender is given; without it the one beside this
    /// program.
    #[arg(long, value_name = "PATH")]
    pub(crate) plain_bridge: Option<PathBuf>,
    /// Takes PostgreSQL without TimescaleDB.
    #[arg(long)]
    pub(crate) plain: bool,
    /// Records a second while latency is measured.
    #[arg(long, default_value_t = 1_000, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub(crate) latency_rate: u32,
    /// Seconds of the latency run.
    #[arg(long, default_value_t = 30, value_parser = clap::value_parser!(u64).range(1..=3_600))]
    pub(crate) latency_seconds: u64,
    /// Also publishes so many records a second end to end, to see whether anything piles up.
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub(crate) rate: Option<u32>,
    /// Seconds of that run.
    #[arg(long, default_value_t = 60, value_parser = clap::value_parser!(u64).range(1..=3_600))]
    pub(crate) seconds: u64,
    /// Also ends the aggregator for so many seconds, at the rate of the latency run, and measures how what piled up is
    /// made good.
    #[arg(long, value_name = "SECONDS", num_args = 0..=1, default_missing_value = "600",
          value_parser = clap::value_parser!(u64).range(10..=3_600))]
    pub(crate) outage: Option<u64>,
    /// Writes the table between its two markers in this file too.
    #[arg(long, value_name = "PATH")]
    pub(crate) write_readme: Option<PathBuf>,
}

/// What can be measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Work {
    /// MQTT to Kafka, ours beside another program.
    Bridge,
    /// Kafka to the database.
    Aggregator,
    /// Both at once, and how soon a record is read.
    Pipeline,
    /// The api under load, by the program `reads`.
    Reads,
    /// The table alone, from what was measured before.
    Table,
}

impl Options {
    /// The plain bridge.
    pub(crate) fn plain_bridge(&self) -> Outcome<PathBuf> {
        self.plain_bridge
            .clone()
            .map_or_else(|| beside("plain_bridge"), Ok)
    }

    /// What is measured.
    pub(crate) fn works(&self) -> &[Work] {
        const ALL: [Work; 4] = [Work::Bridge, Work::Aggregator, Work::Pipeline, Work::Reads];
        match (&self.works[..], &self.contender) {
            ([], None) => &ALL,
            ([], Some(_)) => &[Work::Bridge],
            (named, _) => named,
        }
    }
}
