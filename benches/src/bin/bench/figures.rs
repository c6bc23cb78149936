//! What one run came to.

use crate::batch::Counted;
use crate::stored::Done;
use benches::cost::{Cost, Spent};
use serde::Serialize;
use std::time::Duration;

/// The figures of a run in which records went from one place to another.
#[derive(Debug, Serialize)]
pub(crate) struct Figures {
    pub(crate) records: u64,
    /// What the broker has confirmed in a second; none where nothing was published.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) published_per_s: Option<f64>,
    /// From the first publication (or the start of the process that drains the log) until the last record was
    /// where it belongs.
    pub(crate) took_s: f64,
    pub(crate) records_per_s: f64,
    /// From then until every bucket was computed that had to be; none where there are no buckets.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) buckets_after_s: Option<f64>,
    /// Counted by identity where they belong.
    pub(crate) counted: Counted,
    /// Until the last record was where it belongs, and its bucket computed.
    pub(crate) costs: Vec<Cost>,
    /// Processor time of everything on the machine that has no part in this; high values spoil a run.
    pub(crate) others_cpu_s: f64,
}

impl Figures {
    pub(crate) fn new(counted: Counted, took: Duration, (before, after): (&Spent, &Spent)) -> Self {
        let records = counted.found + counted.missing;
        let (costs, others_cpu_s) = after.since(before, records);
        Self {
            records,
            published_per_s: None,
            took_s: took.as_secs_f64(),
            records_per_s: counted.found as f64 / took.as_secs_f64(),
            buckets_after_s: None,
            counted,
            costs,
            others_cpu_s,
        }
    }

    /// The same with what the broker has confirmed in a second.
    #[must_use]
    pub(crate) fn published(mut self, took: Duration) -> Self {
        self.published_per_s = Some(self.records as f64 / took.as_secs_f64());
        self
    }

    /// The same with when the buckets were computed, where they were waited for.
    #[must_use]
    pub(crate) fn with_buckets(mut self, done: &Done) -> Self {
        let buckets = done.buckets.map(|at| at - done.stored);
        self.buckets_after_s = buckets.map(|it| it.as_secs_f64());
        self
    }

    /// A line for people.
    pub(crate) fn line(&self) -> String {
        let Counted {
            missing,
            doubled,
            unexpected,
            ..
        } = self.counted;
        let costs = self.costs.iter();
        let costs: Vec<String> = costs
            .map(|it| {
                let (process, seconds, peak) = (it.process, it.cpu_s_per_million, it.peak_mib);
                format!("{process} {seconds:.1} s, {peak:.0} MiB")
            })
            .collect();
        let (per_s, costs) = (self.records_per_s, costs.join("; "));
        format!(
            "{per_s:.0}/s; missing {missing}, doubled {doubled}, unexpected {unexpected}; \
             for a million: {costs}; others {:.1} s",
            self.others_cpu_s
        )
    }
}
