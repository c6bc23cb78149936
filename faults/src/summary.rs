//! What a run was and what it found, for people and for programs.

use crate::judge::Verdict;
use crate::ledger::Ledger;
use crate::run::Plan;
use crate::schedule::Planned;
use crate::watch::Looks;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

/// A run's outcome.
#[derive(Clone, Debug)]
pub struct Summary {
    plan: Plan,
    faults: BTreeMap<String, usize>,
    published: usize,
    deliveries: u64,
    acknowledged: usize,
    verdict: Verdict,
    violations: Vec<String>,
    scrapes: u64,
    bucket_reads: u64,
    /// How often the broker said that it had no subscriber for a message, which was then published again.
    pub(crate) unheard: u64,
    /// From the last fault's end until all had arrived.
    pub(crate) recovery: Duration,
    /// By process, the most that any process of that name has had.
    pub(crate) peak_memory_mib: BTreeMap<String, u64>,
}

impl Summary {
    pub(crate) fn new(
        plan: &Plan,
        planned: &[Planned],
        ledger: &Ledger,
        verdict: Verdict,
        violations: Vec<String>,
    ) -> Self {
        let mut faults = BTreeMap::new();
        for planned in planned {
            *faults.entry(planned.kind.to_string()).or_default() += 1;
        }
        let book = ledger.all();
        Self {
            plan: plan.clone(),
            faults,
            published: book.len(),
            deliveries: book.values().map(|it| u64::from(it.sent)).sum(),
            acknowledged: book.values().filter(|it| it.acknowledged > 0).count(),
            verdict,
            violations,
            scrapes: 0,
            bucket_reads: 0,
            unheard: 0,
            recovery: Duration::ZERO,
            peak_memory_mib: BTreeMap::new(),
        }
    }

    pub(crate) fn looks(&mut self, looks: Looks) {
        self.scrapes = looks.scrapes;
        self.bucket_reads = looks.bucket_reads;
    }

    /// Whether nothing was lost, doubled or wrong.
    #[must_use]
    pub fn is_clean(&self) -> bool {
        self.verdict.is_clean() && self.violations.is_empty() && self.acknowledged == self.published
    }

    /// How many faults of each kind there were.
    #[must_use]
    pub fn faults(&self) -> &BTreeMap<String, usize> {
        &self.faults
    }

    /// The command that makes the same run again.
    #[must_use]
    pub fn command(&self) -> String {
        let plan = &self.plan;
        format!(
            "make faults FAULTS='--seed {} --seconds {} --every-ms {} --bridges {} --aggregators {} \
             --buildings {} --per-second {}'",
            plan.seed,
            plan.length.as_secs(),
            plan.every.as_millis(),
            plan.shape.bridges,
            plan.shape.aggregators,
            plan.buildings,
            plan.per_second,
        )
    }

    /// The same for programs.
    #[must_use]
    pub fn json(&self) -> Value {
        json!({
            "seed": self.plan.seed,
            "seconds": self.plan.length.as_secs(),
            "bridges": self.plan.shape.bridges,
            "aggregators": self.plan.shape.aggregators,
            "buildings": self.plan.buildings,
            "messages_per_second": self.plan.per_second,
            "faults": self.faults.values().sum::<usize>(),
            "faults_by_kind": self.faults,
            "published": self.published,
            "acknowledged": self.acknowledged,
            "deliveries": self.deliveries,
            "without_a_subscriber": self.unheard,
            "stored": self.verdict.stored,
            "refused_since_a_clock_was_wrong": self.verdict.refused_by_clock,
            "invalid_and_kept": self.verdict.kept_invalid,
            "lost": self.verdict.lost,
            "doubled": self.verdict.doubled,
            "rows_compared": self.verdict.compared,
            "differences": self.verdict.differences,
            "violations": self.violations,
            "scrapes": self.scrapes,
            "buildings_looked_at": self.bucket_reads,
            "recovery_s": self.recovery.as_secs_f64(),
            "peak_memory_mib": self.peak_memory_mib,
        })
    }
}

impl fmt::Display for Summary {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let total: usize = self.faults.values().sum();
        writeln!(
            formatter,
            "{total} faults in {} s:",
            self.plan.length.as_secs()
        )?;
        for (kind, count) in &self.faults {
            writeln!(formatter, "  {count:>5} {kind}")?;
        }
        let verdict = &self.verdict;
        writeln!(
            formatter,
            "{} messages published, {} acknowledged, {} deliveries, {} of them without a subscriber",
            self.published, self.acknowledged, self.deliveries, self.unheard
        )?;
        writeln!(
            formatter,
            "{} stored, {} invalid and kept, {} refused since a clock was wrong, and kept",
            verdict.stored, verdict.kept_invalid, verdict.refused_by_clock
        )?;
        writeln!(
            formatter,
            "{} rows compared, {} looks at conservation, {} at buckets; all arrived {:.0} s after the last fault",
            verdict.compared,
            self.scrapes,
            self.bucket_reads,
            self.recovery.as_secs_f64()
        )?;
        writeln!(formatter, "peak memory in MiB: {:?}", self.peak_memory_mib)?;
        for wrong in self.violations.iter().chain(&verdict.differences) {
            writeln!(formatter, "WRONG: {wrong}")?;
        }
        writeln!(
            formatter,
            "lost {}, doubled {}",
            verdict.lost, verdict.doubled
        )?;
        if !self.is_clean() {
            writeln!(formatter, "again: {}", self.command())?;
        }
        Ok(())
    }
}
