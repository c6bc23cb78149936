//! The figures as a table for people and as a file for programs.

use crate::history::History;
use crate::load::{Answers, READS};
use crate::options::Options;
use benches::Outcome;
use benches::cost::Cost;
use benches::figures::{self, percentile, verdict};
use serde::Serialize;
use std::fmt::Write as _;
use std::path::Path;

/// Milliseconds at the median and at the 99th percentile that every read has to reach.
const TARGET_MS: (f64, f64) = (5.0, 20.0);
/// Resident memory of the api, in megabytes (10^6).
const TARGET_MB: f64 = 64.0;

/// All that was measured.
#[derive(Debug, Serialize)]
pub(crate) struct Report {
    buildings: u32,
    days: u32,
    minute_buckets: i64,
    requests_per_s: u32,
    reads: Vec<Figures>,
    api_peak_mb: f64,
    /// Of the requests; a million of them.
    costs: Vec<Cost>,
    /// Processor time of everything else on the machine.
    others_cpu_s: f64,
    /// Answers that were neither 200 nor 204.
    pub(crate) refused: usize,
}

#[derive(Debug, Serialize)]
struct Figures {
    read: &'static str,
    requests: usize,
    p50_ms: f64,
    p99_ms: f64,
    max_ms: f64,
}

impl Report {
    pub(crate) fn new(
        answers: Vec<Answers>,
        history: &History,
        api_peak_mb: f64,
        (costs, others_cpu_s): (Vec<Cost>, f64),
        options: &Options,
    ) -> Self {
        let refused = answers.iter().map(|it| it.refusals.len()).sum();
        let reads = READS.iter().zip(answers);
        Self {
            buildings: options.buildings,
            days: options.days,
            minute_buckets: history.minute_buckets,
            requests_per_s: options.rate,
            reads: reads.map(|(read, it)| Figures::of(read, it)).collect(),
            api_peak_mb,
            costs,
            others_cpu_s,
            refused,
        }
    }

    pub(crate) fn text(&self) -> String {
        let mut text = format!(
            "{:<28} {:>9} {:>9} {:>9}\n",
            "read", "p50 ms", "p99 ms", "max ms"
        );
        for it in &self.reads {
            let reached = it.p50_ms <= TARGET_MS.0 && it.p99_ms <= TARGET_MS.1;
            let row = writeln!(
                text,
                "{:<28} {:>9.2} {:>9.2} {:>9.2}  {}",
                it.read,
                it.p50_ms,
                it.p99_ms,
                it.max_ms,
                verdict(reached)
            );
            debug_assert!(row.is_ok(), "a string takes any text");
        }
        let memory = verdict(self.api_peak_mb <= TARGET_MB);
        text + &format!(
            "api, peak resident memory: {:.0} MB  {memory}; refused: {}",
            self.api_peak_mb, self.refused
        )
    }

    pub(crate) fn keep(&self, path: &Path) -> Outcome<()> {
        figures::keep(&serde_json::to_value(self)?, path)
    }
}

impl Figures {
    fn of(read: &'static str, answers: Answers) -> Self {
        let latencies = answers.latencies.iter();
        let mut sorted_ms: Vec<f64> = latencies.map(|it| it.as_secs_f64() * 1e3).collect();
        sorted_ms.sort_by(f64::total_cmp);
        Self {
            read,
            requests: sorted_ms.len(),
            p50_ms: percentile(&sorted_ms, 50),
            p99_ms: percentile(&sorted_ms, 99),
            max_ms: percentile(&sorted_ms, 100),
        }
    }
}
