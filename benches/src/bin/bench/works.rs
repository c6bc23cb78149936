//! What is measured, one after the other, and its place in the results.

use crate::bridge::{self, Entrant};
use crate::figures::Figures;
use crate::options::{Options, Work};
use crate::pipeline::{Pipeline, Rate};
use crate::results::{Results, series};
use crate::servers::Servers;
use crate::{aggregator, functions};
use benches::Outcome;
use benches::cost::Machine;
use benches::figures::say;
use benches::files::beside;
use embedded::Edition;
use serde_json::{Value, json};
use std::fs;
use std::path::PathBuf;
use std::process::Command;

/// The history of the reads has a building for so many records of a run.
const RECORDS_PER_BUILDING: u32 = 1_000;
/// Buildings of that history, at least: those of one user.
const FEWEST_BUILDINGS: u32 = 20;

/// What every work uses.
pub(crate) struct Bench<'a> {
    options: &'a Options,
    results: &'a mut Results,
    program: PathBuf,
    records: usize,
    /// Whether nothing of ours was lost so far.
    is_lossless: bool,
}

/// Measures all that is asked for; tells whether nothing of ours was lost.
pub(crate) async fn measure(options: &Options, results: &mut Results) -> Outcome<bool> {
    let program = match options.works() {
        [Work::Table] => PathBuf::new(),
        _ => options.files.wattline()?,
    };
    let mut bench = Bench {
        options,
        results,
        program,
        records: usize::try_from(options.records)?,
        is_lossless: true,
    };
    bench.settings()?;
    let mut with_database = None;
    for work in options.works() {
        match work {
            Work::Bridge => {
                // Its own servers: a database would have a share of the machine.
                with_database = None;
                bench.bridge().await?;
            }
            Work::Aggregator => {
                let servers = bench.servers(&mut with_database).await?;
                bench.aggregator(servers).await?;
            }
            Work::Pipeline => {
                let servers = bench.servers(&mut with_database).await?;
                bench.pipeline(servers).await?;
            }
            Work::Reads => {
                with_database = None;
                bench.reads()?;
            }
            Work::Table => {}
        }
    }
    bench.functions()?;
    Ok(bench.is_lossless)
}

impl Bench<'_> {
    fn settings(&mut self) -> Outcome<()> {
        if self.options.works() == [Work::Table] {
            return Ok(());
        }
        let machine = Machine::new(Vec::new()).description();
        self.results
            .put("machine", serde_json::to_value(machine)?)?;
        let settings = json!({
            "runs": self.options.runs,
            "records": self.records,
            "buildings": self.options.buildings,
            "connections": crate::load::CONNECTIONS,
            "in_flight": crate::load::WINDOW,
        });
        self.results.put("settings", settings)
    }

    async fn servers<'s>(&self, started: &'s mut Option<Servers>) -> Outcome<&'s Servers> {
        if started.is_none() {
            let edition = if self.options.plain {
                Edition::Plain
            } else {
                Edition::Timescale
            };
            *started = Some(Servers::start(Some(edition), self.records).await?);
        }
        Ok(started.as_ref().ok_or("no servers")?)
    }

    /// Ours and another program take turns, so that what changes on the machine meanwhile concerns both.
    async fn bridge(&mut self) -> Outcome<()> {
        let (part, other) = match &self.options.contender {
            Some(command) => ("contender", command.clone()),
            None => ("bridge", self.options.plain_bridge()?.display().to_string()),
        };
        let servers = Servers::start(None, self.records).await?;
        let entrants = [
            Entrant::Command(other.clone()),
            Entrant::Ours(self.program.clone()),
        ];
        let mut runs = [Vec::new(), Vec::new()];
        for run in 1..=self.options.runs {
            for (entrant, runs) in entrants.iter().zip(&mut runs) {
                let (buildings, records) = (self.options.buildings, self.records);
                let figures = bridge::run(&servers, entrant, buildings, records).await?;
                say(&format!(
                    "bridge {run}, {}: {}",
                    entrant.name(),
                    figures.line()
                ))?;
                runs.push(figures);
            }
        }
        let [others, ours] = runs;
        self.note(&ours);
        let (ours, others) = (series(&ours)?, series(&others)?);
        let ratio = ratio(&ours["median"], &others["median"]);
        let figures = json!({ "command": other, "other": others, "ours": ours, "ratio": ratio });
        self.results.put(part, figures)
    }

    async fn aggregator(&mut self, servers: &Servers) -> Outcome<()> {
        let mut runs = Vec::new();
        for run in 1..=self.options.runs {
            let (buildings, records) = (self.options.buildings, self.records / 2);
            let figures = aggregator::run(servers, &self.program, buildings, records).await?;
            say(&format!("aggregator {run}: {}", figures.line()))?;
            runs.push(figures);
        }
        self.note(&runs);
        let ours = series(&runs)?;
        let figures = json!({ "database": servers.edition(), "ours": ours });
        self.results.put("aggregator", figures)
    }

    async fn pipeline(&mut self, servers: &Servers) -> Outcome<()> {
        let pipeline = Pipeline {
            servers,
            program: &self.program.clone(),
            buildings: self.options.buildings,
        };
        let probed = Rate {
            per_s: self.options.latency_rate,
            seconds: self.options.latency_seconds,
        };
        let (mut full_speed, mut readable, mut sustained) = (Vec::new(), Vec::new(), Vec::new());
        for run in 1..=self.options.runs {
            let figures = pipeline.full_speed(self.records / 2).await?;
            say(&format!("pipeline {run}: {}", figures.line()))?;
            full_speed.push(figures);
            let figures = pipeline.readable(probed).await?;
            let (p50, p99) = (figures.latency.p50_s, figures.latency.p99_s);
            let beside = figures.load.line();
            say(&format!(
                "readable {run}: median {p50:.3} s, 99th percentile {p99:.3} s; {beside}"
            ))?;
            self.is_lossless &= figures.latency.never_readable == 0;
            self.is_lossless &= figures.load.counted.is_exact();
            readable.push(figures);
            if let Some(per_s) = self.options.rate {
                let seconds = self.options.seconds;
                let figures = pipeline.sustained(Rate { per_s, seconds }).await?;
                say(&format!("sustained {run}: {}", figures.line()))?;
                sustained.push(figures);
            }
        }
        self.note(&full_speed);
        self.note(&sustained);
        let outage = match self.options.outage {
            Some(seconds) => Some(pipeline.outage(Rate { seconds, ..probed }).await?),
            None => None,
        };
        self.is_lossless &= outage.as_ref().is_none_or(|it| it.is_lossless());
        let figures = json!({
            "database": servers.edition(),
            "full_speed": series(&full_speed)?,
            "readable": series(&readable)?,
            "sustained": series(&sustained)?,
            "outage": outage,
        });
        self.results.put("pipeline", figures)
    }

    /// One run: most of its time goes into its history.
    fn reads(&mut self) -> Outcome<()> {
        let buildings = self.options.records / RECORDS_PER_BUILDING;
        let buildings = buildings.clamp(FEWEST_BUILDINGS, RECORDS_PER_BUILDING);
        say(&format!("reads: {buildings} buildings"))?;
        let file = self.results.path().with_file_name("reads.json");
        let ended = Command::new(beside("reads")?)
            .arg("--wattline")
            .arg(&self.program)
            .arg("--json")
            .arg(&file)
            .arg("--buildings")
            .arg(buildings.to_string())
            .status()?;
        self.is_lossless &= ended.success();
        let figures = serde_json::from_slice(&fs::read(&file)?)?;
        self.results.put("reads", figures)
    }

    /// What `cargo bench` has left.
    fn functions(&mut self) -> Outcome<()> {
        let functions = functions::measured(self.results.path())?;
        self.results.put("functions", functions)
    }

    fn note(&mut self, ours: &[Figures]) {
        self.is_lossless &= ours.iter().all(|it| it.counted.is_exact());
    }
}

/// How many times better ours is than another.
fn ratio(ours: &Value, other: &Value) -> Value {
    let figure = |it: &Value, name: &str| it[name].as_f64().unwrap_or_default();
    let cost = |it: &Value, name: &str| {
        let costs = it["costs"].as_array().into_iter().flatten();
        let mut bridge = costs.filter(|it| it["process"] == "bridge");
        bridge.next().map_or(0.0, |it| figure(it, name))
    };
    json!({
        "records_per_s": figure(ours, "records_per_s") / figure(other, "records_per_s"),
        "cpu_s_per_million": cost(other, "cpu_s_per_million") / cost(ours, "cpu_s_per_million"),
        "peak_mib": cost(other, "peak_mib") / cost(ours, "peak_mib"),
    })
}
