//! Counting that a scrape never sees half done.
//!
//! The metrics themselves are in [`table`]; the recorder is the process's own value, not a global
//! one, so that several pipelines can live in one test.

mod series;
pub mod table;

use series::Series;
use std::sync::{Arc, PoisonError, RwLock};
pub use table::{Counter, Gauge, Histogram};

/// The metrics of one process; clones count into the same series.
#[derive(Clone)]
pub struct Metrics(Arc<Gated>);

struct Gated {
    /// Updates share it, a scrape has it alone: this makes an update atomic for every scrape, while
    /// updates do not wait for each other.
    gate: RwLock<()>,
    series: Series,
}

/// What one update may do; a scrape sees all of it or nothing.
pub struct Update<'a>(&'a Series);

impl Metrics {
    /// Metrics with every series of the [`table`] at zero.
    #[must_use]
    pub fn new() -> Self {
        Self(Arc::new(Gated {
            gate: RwLock::new(()),
            series: Series::new(),
        }))
    }

    /// Changes what belongs together as one. The closure must neither block nor call
    /// [`Metrics::update`] or [`Metrics::render`] itself.
    pub fn update(&self, change: impl FnOnce(&Update<'_>)) {
        let _shared = self.0.gate.read().unwrap_or_else(PoisonError::into_inner);
        change(&Update(&self.0.series));
    }

    /// Every series as text, in the Prometheus exposition format 0.0.4.
    #[must_use]
    pub fn render(&self) -> String {
        let _alone = self.0.gate.write().unwrap_or_else(PoisonError::into_inner);
        self.0.series.render()
    }

    /// Folds what histograms observed into their buckets, so that a process that nobody scrapes does
    /// not grow; the operations server calls it from time to time.
    pub fn compact(&self) {
        let _shared = self.0.gate.read().unwrap_or_else(PoisonError::into_inner);
        self.0.series.compact();
    }
}

impl Default for Metrics {
    fn default() -> Self {
        Self::new()
    }
}

impl Update<'_> {
    /// Adds `count` to a counter without a label.
    pub fn add(&self, counter: Counter, count: u64) {
        self.0.counter(counter, None).increment(count);
    }

    /// Adds `count` to the series of a counter that has the label value `value`, one of those in
    /// its row.
    pub fn add_labelled(&self, counter: Counter, value: &str, count: u64) {
        self.0.counter(counter, Some(value)).increment(count);
    }

    /// Sets a gauge. Of updates that run at the same time any may be the last one; where that
    /// matters, use [`Update::raise`] and [`Update::lower`].
    pub fn set(&self, gauge: Gauge, value: f64) {
        self.0.gauge(gauge).set(value);
    }

    /// Sets the series of a gauge that has the label value `value`: a name in the code, so that there
    /// are few of them.
    pub fn set_labelled(&self, gauge: Gauge, value: &'static str, to: f64) {
        self.0.labelled_gauge(gauge, value).set(to);
    }

    /// Adds to a gauge.
    pub fn raise(&self, gauge: Gauge, by: f64) {
        self.0.gauge(gauge).increment(by);
    }

    /// Subtracts from a gauge.
    pub fn lower(&self, gauge: Gauge, by: f64) {
        self.0.gauge(gauge).decrement(by);
    }

    /// Counts a value into a histogram.
    pub fn observe(&self, histogram: Histogram, value: f64) {
        self.0.histogram(histogram).record(value);
    }
}

#[cfg(test)]
mod tests;
