//! The figures as a table for people and as a file for programs.

mod table;

use crate::latency::Latency;
use crate::outage::Outage;
use crate::roles::PeakMemory;
use crate::run::Figures;
use crate::targets;
use benches::cost::Description;
use benches::{Outcome, figures};
use serde::Serialize;
use serde_json::json;
use std::path::Path;

/// All that was measured.
#[derive(Debug, Serialize)]
pub(crate) struct Report {
    pub(crate) machine: Description,
    pub(crate) database: &'static str,
    pub(crate) buildings: usize,
    pub(crate) connections: u16,
    pub(crate) sustained: Figures,
    pub(crate) latency: Latency,
    /// The fleet that published beside the probes.
    pub(crate) latency_load: Figures,
    /// After the two runs above.
    pub(crate) memory: Vec<PeakMemory>,
    pub(crate) outage: Option<Outage>,
    pub(crate) maximum: Option<Figures>,
    pub(crate) memory_after_maximum: Option<Vec<PeakMemory>>,
}

impl Report {
    /// Whether every record of every run is stored once, and every probe became readable.
    pub(crate) fn is_lossless(&self) -> bool {
        let runs = [&self.sustained, &self.latency_load];
        let mut runs = runs.into_iter().chain(&self.maximum);
        runs.all(Figures::is_lossless)
            && self.latency.never_readable == 0
            && self.outage.as_ref().is_none_or(Outage::is_lossless)
    }

    /// Whether the rate was held long enough, up to the last record stored.
    pub(crate) fn is_sustained(&self) -> bool {
        let run = &self.sustained;
        run.is_lossless()
            && run.stored_per_s >= targets::RECORDS_PER_S
            // The last record is published one interval before the end.
            && run.published_s >= targets::SUSTAINED_S - 0.5
    }

    /// Whether a process has kept to its memory.
    pub(crate) fn keeps_to_memory(memory: &PeakMemory) -> bool {
        let target = targets::MEMORY_MB
            .iter()
            .find(|(name, _)| *name == memory.process);
        target.is_none_or(|(_, mb)| memory.peak_mb <= *mb)
    }

    /// Writes the file for programs.
    pub(crate) fn keep(&self, path: &Path) -> Outcome<()> {
        let mut document = serde_json::to_value(self)?;
        document["targets"] = json!({
            "lossless": self.is_lossless(),
            "sustained": self.is_sustained(),
            "latency": self.latency.reached,
            "outage": self.outage.as_ref().map(|it| it.reached),
            "memory": self.memory.iter().all(Self::keeps_to_memory),
        });
        figures::keep(&document, path)
    }
}
