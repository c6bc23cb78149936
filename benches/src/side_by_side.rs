//! Alternatives side by side: the same items by each of them, measured by criterion, and a table of what one item costs and
//! how many times as much that is as by ours.

use crate::Outcome;
use crate::figures::{keep, say};
use criterion::{Criterion, Throughput};
use serde_json::{Map, Value, json};
use std::cell::RefCell;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// One way of doing the work.
pub struct Row<'a> {
    name: &'static str,
    pass: Box<dyn FnMut() + 'a>,
}

/// One way of doing the work, by a name; `pass` does it with all items.
pub fn row<'a>(name: &'static str, pass: impl FnMut() + 'a) -> Row<'a> {
    Row {
        name,
        pass: Box::new(pass),
    }
}

/// What a bench found, group by group.
#[derive(Debug)]
pub struct Report {
    bench: &'static str,
    groups: Map<String, Value>,
}

impl Report {
    /// An empty one, for a bench of this name.
    #[must_use]
    pub fn new(bench: &'static str) -> Self {
        Self {
            bench,
            groups: Map::new(),
        }
    }

    /// Measures a group's rows, each of which does all its `items` in a pass; the first `ours` rows are this project's.
    pub fn measure(
        &mut self,
        criterion: &mut Criterion,
        group: &str,
        items: usize,
        ours: usize,
        rows: Vec<Row<'_>>,
    ) {
        let mut costs = Vec::new();
        let mut measured = criterion.benchmark_group(group);
        measured.throughput(Throughput::Elements(items as u64));
        for mut row in rows {
            let passes = RefCell::new(Vec::new());
            measured.bench_function(row.name, |bencher| {
                bencher.iter_custom(|many| {
                    let times = (0..many).map(|_| time_of(&mut row.pass));
                    let times: Vec<Duration> = times.collect();
                    passes.borrow_mut().extend_from_slice(&times);
                    times.iter().sum()
                });
            });
            costs.extend(Cost::of(row.name, passes.into_inner(), items));
        }
        measured.finish();
        self.add(group, ours, &costs);
    }

    fn add(&mut self, group: &str, ours: usize, costs: &[Cost]) {
        let ours = costs.get(..ours).unwrap_or_default();
        let rows = costs.iter().map(|cost| {
            let times = |one: &Cost| (one.name.to_owned(), json!(cost.median_ns / one.median_ns));
            let times: Map<String, Value> = ours.iter().map(times).collect();
            json!({
                "name": cost.name,
                "median_ns": cost.median_ns,
                "best_ns": cost.best_ns,
                "times": times,
            })
        });
        self.groups.insert(group.to_owned(), rows.collect());
    }

    /// Prints the tables, and writes them to `bench/<name of the bench>.json` of cargo's target folder. A filter that leaves
    /// rows out leaves them out here too.
    ///
    /// # Errors
    /// When nobody takes them.
    pub fn tell(self) -> Outcome<()> {
        for (group, rows) in &self.groups {
            say(&format!(
                "\n{group:44}{:>12}{:>12}  times ours",
                "median ns", "best ns"
            ))?;
            for row in rows.as_array().into_iter().flatten() {
                say(&line(row))?;
            }
        }
        // In target/release/deps.
        let program = std::env::current_exe()?;
        let target = program.ancestors().nth(3);
        let target = target.ok_or("this program is in no target folder")?;
        let name = PathBuf::from(self.bench).with_extension("json");
        keep(
            &Value::Object(self.groups),
            &target.join("bench").join(name),
        )
    }
}

fn line(row: &Value) -> String {
    let number = |key: &str| row[key].as_f64().unwrap_or_default();
    let times = row["times"].as_object().into_iter().flatten();
    let times: Vec<String> = times
        .map(|(_, times)| format!("{:.2}", times.as_f64().unwrap_or_default()))
        .collect();
    format!(
        "  {:42}{:12.1}{:12.1}  {}",
        row["name"].as_str().unwrap_or_default(),
        number("median_ns"),
        number("best_ns"),
        times.join("  ")
    )
}

fn time_of(pass: &mut dyn FnMut()) -> Duration {
    let begun = Instant::now();
    pass();
    begun.elapsed()
}

/// What an item costs in one row: of all passes the median, and the best.
#[derive(Debug)]
struct Cost {
    name: &'static str,
    median_ns: f64,
    best_ns: f64,
}

impl Cost {
    fn of(name: &'static str, mut passes: Vec<Duration>, items: usize) -> Option<Self> {
        passes.sort_unstable();
        let (best, median) = (passes.first()?, passes.get(passes.len() / 2)?);
        #[expect(clippy::cast_precision_loss, reason = "some thousands")]
        let each = |pass: &Duration| pass.as_secs_f64() * 1e9 / items as f64;
        Some(Self {
            name,
            median_ns: each(median),
            best_ns: each(best),
        })
    }
}

/// Few samples, since a pass has thousands of items.
#[must_use]
pub fn settings() -> Criterion {
    Criterion::default()
        .sample_size(20)
        .warm_up_time(Duration::from_millis(500))
        .measurement_time(Duration::from_secs(2))
}
