//! The figures as a table for people and as a file for programs.

use crate::actions::Acted;
use crate::ends::Ended;
use benches::Outcome;
use benches::cost::{Cost, Description};
use benches::figures::{self, percentile, verdict};
use serde::Serialize;
use std::path::Path;

/// Milliseconds from an action posted to the controller receiving it, at the median and at the 99th percentile.
const RECEIVED_MS: (f64, f64) = (50.0, 150.0);
/// Milliseconds that no end may be late while ends are spread.
const LATE_MS: f64 = 1_000.0;
/// Resident memory of control, in megabytes (10^6).
const CONTROL_MB: f64 = 64.0;

/// All that was measured.
#[derive(Debug, Serialize)]
pub(crate) struct Report {
    pub(crate) machine: Description,
    pub(crate) buildings: u32,
    pub(crate) actions: Actions,
    pub(crate) spread: Ends,
    pub(crate) burst: Ends,
    pub(crate) control_peak_mb: f64,
}

/// The run with actions.
#[derive(Debug, Serialize)]
pub(crate) struct Actions {
    buildings: u32,
    per_s: u32,
    answered: Percentiles,
    received: Percentiles,
    refused: usize,
    lost: usize,
    costs: Vec<Cost>,
    others_cpu_s: f64,
}

/// A run with ends.
#[derive(Debug, Serialize)]
pub(crate) struct Ends {
    over_s: u32,
    late: Percentiles,
    early: usize,
    lost: usize,
    put_in_s: f64,
    costs: Vec<Cost>,
    others_cpu_s: f64,
}

/// Milliseconds.
#[derive(Debug, Serialize)]
struct Percentiles {
    count: usize,
    p50_ms: f64,
    p99_ms: f64,
    max_ms: f64,
}

impl Percentiles {
    fn of(seconds: &[f64]) -> Self {
        let mut sorted_ms: Vec<f64> = seconds.iter().map(|it| it * 1e3).collect();
        sorted_ms.sort_by(f64::total_cmp);
        Self {
            count: sorted_ms.len(),
            p50_ms: percentile(&sorted_ms, 50),
            p99_ms: percentile(&sorted_ms, 99),
            max_ms: percentile(&sorted_ms, 100),
        }
    }

    fn row(&self, name: &str, target: &str) -> String {
        let (p50, p99, max) = (self.p50_ms, self.p99_ms, self.max_ms);
        let count = self.count;
        format!("{name:<36} {count:>7} {p50:>9.1} {p99:>9.1} {max:>9.1}  {target}\n")
    }
}

impl Actions {
    pub(crate) fn new(acted: &Acted, of: (u32, u32), costs: (Vec<Cost>, f64)) -> Self {
        Self {
            buildings: of.0,
            per_s: of.1,
            answered: Percentiles::of(&acted.answered_s),
            received: Percentiles::of(&acted.received_s),
            refused: acted.refused,
            lost: acted.lost,
            costs: costs.0,
            others_cpu_s: costs.1,
        }
    }
}

impl Ends {
    pub(crate) fn new(ended: &Ended, over_s: u32, costs: (Vec<Cost>, f64)) -> Self {
        Self {
            over_s,
            late: Percentiles::of(&ended.late_s),
            early: ended.late_s.iter().filter(|it| **it < 0.0).count(),
            lost: ended.lost,
            put_in_s: ended.put_in_s,
            costs: costs.0,
            others_cpu_s: costs.1,
        }
    }
}

impl Report {
    /// Whether every action was taken and received, and every end shown, none before its time.
    pub(crate) const fn is_lossless(&self) -> bool {
        let Self {
            actions,
            spread,
            burst,
            ..
        } = self;
        actions.refused == 0
            && actions.lost == 0
            && spread.lost + spread.early == 0
            && burst.lost + burst.early == 0
    }

    pub(crate) fn text(&self) -> String {
        let machine = &self.machine;
        let gib = machine.memory_mib / 1024.0;
        let (cores, processor, buildings) = (machine.cores, &machine.processor, self.buildings);
        let mut text = format!(
            "\n{cores} cores ({processor}), {gib:.0} GiB; {buildings} buildings, PostgreSQL and Mosquitto on \
             the same machine, durable\n\n{:<36} {:>7} {:>9} {:>9} {:>9}\n",
            "", "count", "p50 ms", "p99 ms", "max ms"
        );
        text += &self.rows();
        let (peak, kept) = (self.control_peak_mb, self.control_peak_mb <= CONTROL_MB);
        let kept = verdict(kept);
        text +=
            &format!("\ncontrol, peak resident memory: {peak:.1} MB  {CONTROL_MB:.0} MB: {kept}\n");
        text += &self.costs();
        let (refused, lost) = (self.actions.refused, self.actions.lost);
        let ends_lost = self.spread.lost + self.burst.lost;
        let early = self.spread.early + self.burst.early;
        let told = format!(
            "actions refused {refused}, never received {lost}; ends never shown {ends_lost}, shown early {early}"
        );
        text + &told
    }

    fn rows(&self) -> String {
        let actions = &self.actions;
        let (p50, p99) = RECEIVED_MS;
        let reached = actions.received.p50_ms <= p50 && actions.received.p99_ms <= p99;
        let target = format!("{p50:.0}, {p99:.0}: {}", verdict(reached));
        let of = format!("{}/s over {} buildings", actions.per_s, actions.buildings);
        let mut rows = format!("actions, {of}\n");
        rows += &actions.answered.row("  posted to answered", "");
        rows += &actions.received.row("  posted to received", &target);
        let reached = verdict(self.spread.late.max_ms <= LATE_MS);
        let target = format!("at most {LATE_MS:.0}: {reached}");
        let name = |ends: &Ends| format!("ends over {} s, lateness", ends.over_s);
        rows += &self.spread.late.row(&name(&self.spread), &target);
        rows + &self.burst.late.row(&name(&self.burst), "")
    }

    fn costs(&self) -> String {
        let runs = [
            (
                "1,000 actions",
                &self.actions.costs,
                self.actions.others_cpu_s,
            ),
            ("1,000 ends", &self.spread.costs, self.spread.others_cpu_s),
            (
                "1,000 ends at once",
                &self.burst.costs,
                self.burst.others_cpu_s,
            ),
        ];
        let mut text = String::new();
        for (what, costs, others_s) in runs {
            let cost = |it: &Cost| format!("{} {:.2}", it.process, it.cpu_s_per_million / 1e3);
            let costs: Vec<String> = costs.iter().map(cost).collect();
            let costs = costs.join(", ");
            text +=
                &format!("CPU s for {what}: {costs} (others on this machine: {others_s:.1} s)\n");
        }
        text
    }

    pub(crate) fn keep(&self, path: &Path) -> Outcome<()> {
        figures::keep(&serde_json::to_value(self)?, path)
    }
}
