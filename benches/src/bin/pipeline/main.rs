//! `pipeline`: the whole way of a record, from an MQTT publish to an HTTP read, in figures.
//!
//! Bridge, aggregator and api run as processes of their own against private servers that write to
//! the disk before they confirm. A figure below its target is told and is no failure; a record that
//! was confirmed and is not stored exactly once is one.

mod latency;
mod load;
mod options;
mod outage;
mod report;
mod roles;
mod run;
mod servers;
mod stored;
mod targets;

use benches::Outcome;
use benches::cost::Machine;
use benches::figures::{self, say};
use clap::Parser as _;
use domain::time::Timestamp;
use latency::Latency;
use load::Load;
use ops::clock::Clock;
use ops::shutdown::Shutdown;
use options::Options;
use report::Report;
use roles::Roles;
use run::{Context, Figures};
use servers::Servers;
use simulator::{Fleet, Limit, Pace, Scenario};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

/// Everything random follows from it.
const SEED: u64 = 1;
/// Time between two records of a building in the run without waiting; the records lie in the past,
/// as those that controllers have kept while their connection was away.
const CAUGHT_UP_INTERVAL: Duration = Duration::from_secs(1);
/// How far in the past these records begin.
const CAUGHT_UP_SINCE: Duration = Duration::from_secs(24 * 3_600);

fn main() -> ExitCode {
    figures::end("pipeline", measured().map(|it| it.is_lossless()))
}

fn measured() -> Outcome<Report> {
    let options = Options::parse();
    let wattline = options.files.wattline()?;
    let path = options.files.json()?;
    say("starting PostgreSQL, Mosquitto and Kafka")?;
    let servers = Servers::start(options.plain)?;
    // This thread starts the processes, and the kernel ends them when it ends.
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let report = runtime.block_on(async {
        let shutdown = Shutdown::on_signals();
        tokio::select! {
            report = measure(&options, wattline, &servers) => report,
            () = shutdown.requested() => Err("told to stop".into()),
        }
    })?;
    report.keep(&path)?;
    say(&report.text())?;
    say(&format!("written to {}", path.display()))?;
    Ok(report)
}

async fn measure(options: &Options, wattline: PathBuf, servers: &Servers) -> Outcome<Report> {
    let probes = latency::buildings(SEED);
    let mut context = prepare(options, wattline, servers, &probes).await?;
    let sustained = sustained(options, &context).await?;
    let (latency, latency_load) = latency(options, &context, servers, &probes).await?;
    let memory = context.roles.peak_memory()?;
    let outage = match options.outage {
        Some(seconds) => {
            let rate = options.latency_rate;
            let paced = |seconds| paced(options.buildings, rate, seconds);
            Some(outage::measure(&mut context, servers, &probes, paced, (seconds, rate)).await?)
        }
        None => None,
    };
    let maximum = match options.maximum {
        Some(records) => Some(maximum(options, &context, records).await?),
        None => None,
    };
    let memory_after_maximum = match maximum {
        Some(_) => Some(context.roles.peak_memory()?),
        None => None,
    };
    Ok(Report {
        machine: context.machine.description(),
        database: servers.edition(),
        buildings: options.buildings,
        connections: options.connections,
        sustained,
        latency,
        latency_load,
        memory,
        outage,
        maximum,
        memory_after_maximum,
    })
}

/// The processes, with every building known to them.
async fn prepare(
    options: &Options,
    wattline: PathBuf,
    servers: &Servers,
    probes: &Fleet,
) -> Outcome<Context> {
    let fleet = Fleet::new(SEED, options.buildings);
    let file = servers::fleet_file(&fleet, probes);
    let roles = Roles::start(wattline, servers, &file).await?;
    let mut processes = roles.processes();
    processes.extend(servers.processes());
    Ok(Context {
        machine: Machine::new(processes),
        roles,
        database: servers.database().await?,
        load: Load {
            mqtt_url: servers.mqtt_url(),
            connections: options.connections,
        },
    })
}

/// A fixed rate for long enough to see whether anything piles up.
async fn sustained(options: &Options, context: &Context) -> Outcome<Figures> {
    let (rate, seconds) = (options.rate, options.seconds);
    say(&format!("sustained run: {rate} records/s for {seconds} s"))?;
    let scenario = paced(options.buildings, rate, seconds);
    run::run(context, scenario, Pace::Realtime).await
}

/// Probes beside a moderate rate, and what that rate itself came to.
async fn latency(
    options: &Options,
    context: &Context,
    servers: &Servers,
    probes: &Fleet,
) -> Outcome<(Latency, Figures)> {
    let (rate, seconds) = (options.latency_rate, options.latency_seconds);
    say(&format!(
        "latency run: {rate} records/s for {seconds} s, around the end of a minute"
    ))?;
    latency::wait_for_half_a_minute(seconds).await;
    let scenario = paced(options.buildings, rate, seconds);
    tokio::try_join!(
        latency::probe(&context.roles, servers, probes, seconds),
        run::run(context, scenario, Pace::Realtime),
    )
}

/// Everything at once: the broker queues what the bridge does not take.
async fn maximum(options: &Options, context: &Context, records: u64) -> Outcome<Figures> {
    say(&format!("maximum: {records} records without waiting"))?;
    let mut scenario = Scenario::new(SEED, options.buildings, CAUGHT_UP_INTERVAL);
    scenario.limit = Limit::Records(records);
    let now = Timestamp::from_micros(Clock::system().now_micros());
    let start = now.minus(CAUGHT_UP_SINCE);
    run::run(context, scenario, Pace::AsFastAsPossible { start }).await
}

/// A fleet that makes so many records a second, for so long.
fn paced(buildings: usize, rate: u32, seconds: u64) -> Scenario {
    let interval = Duration::from_secs(1).mul_f64(buildings as f64 / f64::from(rate));
    let mut scenario = Scenario::new(SEED, buildings, interval);
    scenario.limit = Limit::Duration(Duration::from_secs(seconds));
    scenario
}
