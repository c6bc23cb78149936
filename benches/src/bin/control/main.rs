//! `control`: how soon a controller has what is desired of it, in figures.
//!
//! `wattline api` and `wattline control` run as processes of their own against a private broker and a private
//! database that writes to the disk before it confirms; one subscriber stands for all controllers. A
//! figure below its target is told and is no failure; an action or an end that no document shows, and
//! an end before its time, is one.

mod actions;
mod buildings;
mod ends;
mod options;
mod receiver;
mod report;
mod site;

use benches::Outcome;
use benches::figures::{self, say};
use buildings::Building;
use clap::Parser as _;
use ops::shutdown::Shutdown;
use options::Options;
use report::{Actions, Ends, Report};
use site::Site;
use std::process::ExitCode;

fn main() -> ExitCode {
    figures::end("control", measured().map(|it| it.is_lossless()))
}

fn measured() -> Outcome<Report> {
    let options = Options::parse();
    let path = options.files.json()?;
    // This thread starts the processes, and the kernel ends them when it ends.
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let report = runtime.block_on(async {
        let shutdown = Shutdown::on_signals();
        tokio::select! {
            report = measure(&options) => report,
            () = shutdown.requested() => Err("told to stop".into()),
        }
    })?;
    report.keep(&path)?;
    say(&report.text())?;
    say(&format!("written to {}", path.display()))?;
    Ok(report)
}

async fn measure(options: &Options) -> Outcome<Report> {
    let buildings = buildings::buildings(options.buildings.max(options.acted));
    let count = buildings.len();
    say(&format!(
        "starting PostgreSQL, Mosquitto, api and control with {count} buildings"
    ))?;
    let site = Site::start(options, &buildings).await?;
    let actions = actions(&site, &buildings, options).await?;
    let spread = ends(&site, &buildings, (options.lead, options.spread)).await?;
    let burst = ends(&site, &buildings, (options.lead, options.burst)).await?;
    Ok(Report {
        machine: site.machine().description(),
        buildings: options.buildings.max(options.acted),
        actions,
        spread,
        burst,
        control_peak_mb: site.control.peak_memory_mb()?,
    })
}

async fn actions(site: &Site, buildings: &[Building], options: &Options) -> Outcome<Actions> {
    let (acted, rate, seconds) = (options.acted, options.rate, options.seconds);
    say(&format!("{rate} actions/s for {seconds} s"))?;
    let clients = actions::clients(site, buildings, options).await?;
    let machine = site.machine();
    let before = machine.spent()?;
    let run = actions::run(site, buildings, &clients, options).await?;
    let costs = machine.spent()?.since(&before, u64::from(rate * seconds));
    Ok(Actions::new(&run, (acted, rate), costs))
}

/// What the timeouts cost, from being put in to their ends.
async fn ends(site: &Site, buildings: &[Building], (lead, spread): (u32, u32)) -> Outcome<Ends> {
    let count = 3 * buildings.len();
    say(&format!(
        "{count} timeouts that end within {spread} s, {lead} s from now"
    ))?;
    let machine = site.machine();
    let before = machine.spent()?;
    let run = ends::run(site, buildings, (lead, spread)).await?;
    let costs = machine.spent()?.since(&before, count as u64);
    Ok(Ends::new(&run, spread, costs))
}
