//! `wattline demo`: the whole pipeline on one machine, with private servers and a simulated fleet.

mod private;
mod progress;

use crate::command_line::{number, switch, with_settings};
use crate::failure::Failure;
use crate::fleet_file::FleetFile;
use crate::role::{Roles, Shared, run_until_shutdown};
use crate::settings::{HTTP, LOGGING, OPERATIONS, SETTINGS};
use crate::simulate::PASSWORD;
use crate::{admin, migrate, output, process};
use clap::{ArgMatches, Command};
use ops::clock::Clock;
use ops::health::Health;
use ops::settings::Settings;
use ops::shutdown::Shutdown;
use private::PrivateServers;
use simulator::fleet::Building;
use simulator::{Config, Fleet, Scenario, Shares, Topics};
use std::time::Duration;
use store::{Run, Store};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

/// Pause between two looks at whether everything is ready.
const READY_LOOK: Duration = Duration::from_millis(100);
/// Longest wait until everything is ready; it takes some seconds.
const READY_PATIENCE: Duration = Duration::from_secs(60);

/// Connections of the simulated fleet: one a controller, as long as they are this few.
const MOST_CONNECTIONS: u16 = 100;

pub(crate) fn command() -> Command {
    with_settings(
        "demo",
        "Brings up everything on this machine: private servers, a simulated fleet, a login to try",
        &[LOGGING, OPERATIONS, HTTP],
    )
    .arg(switch(
        "direct",
        "without Kafka and Java: acknowledged after the database has committed",
    ))
    .arg(number(
        "buildings",
        "10",
        "how many buildings are simulated",
    ))
    .arg(number("seed", "1", "everything random follows from it"))
}

pub(crate) fn run(matches: &ArgMatches, settings: &Settings) -> Result<(), Failure> {
    let direct = matches.get_flag("direct");
    let count = |name: &str| matches.get_one::<u64>(name).copied().unwrap_or_default();
    let buildings = usize::try_from(count("buildings"))
        .map_err(|_| Failure::Usage("--buildings: too many".to_owned()))?;
    let mut scenario = Scenario::new(count("seed"), buildings, Duration::from_secs(1));
    scenario.topics = Topics::All;
    // Enough that the line below shows each of them within a minute.
    scenario.shares = Shares {
        duplicates: 0.01,
        late: 0.01,
        invalid: 0.01,
        gaps: 0.01,
    };
    scenario
        .check()
        .map_err(|bad| Failure::Usage(format!("--{bad}")))?;
    let servers = process::block_on(async {
        // From here on Ctrl-C ends the demo in order, also while servers start.
        let shared = Shared {
            shutdown: Shutdown::on_signals(),
            ..Shared::default()
        };
        output::line("starting private servers")?;
        let servers = tokio::task::spawn_blocking(move || PrivateServers::start(direct))
            .await
            .map_err(|error| Failure::Running(format!("private servers: {error}")))??;
        let settings = servers.settings(settings)?;
        if !shared.shutdown.is_requested() {
            bring_up(&settings, &shared, scenario).await?;
        }
        Ok(servers)
    })?;
    drop(servers);
    Ok(output::line("stopped: nothing is left running")?)
}

async fn bring_up(settings: &Settings, shared: &Shared, scenario: Scenario) -> Result<(), Failure> {
    let fleet = Fleet::new(scenario.seed, scenario.buildings);
    let store = Store::open(&settings.text("database_url")?, 1)?;
    let migrated = store.migrate().await?;
    output::line(&format!("database: {}", migrate::describe(&migrated)))?;
    let file = FleetFile::parse(&fleet.fleet_file(PASSWORD).to_string())
        .map_err(|rule| Failure::Running(format!("fleet file: {rule}")))?;
    admin::apply_fleet_file(&store, file, false, Run::Real).await?;
    api::token::Keys::new_key_first(&settings.path("token_key_file")?)
        .map_err(|error| Failure::Running(error.to_string()))?;

    let roles = run_until_shutdown(Roles::ALL, settings, shared);
    let show = show(settings, shared, &fleet, scenario);
    tokio::pin!(roles, show);
    tokio::select! {
        ended = &mut roles => ended,
        shown = &mut show => {
            shared.shutdown.trigger();
            roles.await.and(shown)
        }
    }
}

/// Waits until everything is ready, tells what to try, and starts the fleet.
async fn show(
    settings: &Settings,
    shared: &Shared,
    fleet: &Fleet,
    scenario: Scenario,
) -> Result<(), Failure> {
    if !wait_until_ready(&shared.health, &shared.shutdown).await? {
        return Ok(());
    }
    introduce(settings, fleet)?;
    let token = CancellationToken::new();
    let clock = Clock::system();
    let mut config = Config::new(settings.text("mqtt_url")?, scenario);
    config.connections = u16::try_from(fleet.buildings().len())
        .unwrap_or(MOST_CONNECTIONS)
        .min(MOST_CONNECTIONS);
    let mut tasks = JoinSet::new();
    tasks.spawn(simulator::run(
        config,
        move || clock.now_micros(),
        token.clone(),
    ));
    let told = progress::tell(&shared.metrics, &shared.shutdown).await;
    token.cancel();
    while let Some(ended) = tasks.join_next().await {
        ended
            .map_err(|error| Failure::Running(format!("the fleet broke off: {error}")))?
            .map_err(|failure| Failure::Running(failure.to_string()))?;
    }
    told
}

/// Answers false when told to stop before.
async fn wait_until_ready(health: &Health, shutdown: &Shutdown) -> Result<bool, Failure> {
    let begun = std::time::Instant::now();
    loop {
        let report = health.report();
        if report.ready && !report.names.is_empty() {
            return Ok(true);
        }
        if begun.elapsed() > READY_PATIENCE {
            let causes: Vec<String> = report
                .causes
                .iter()
                .map(|(name, cause)| format!("{name}: {cause}"))
                .collect();
            return Err(Failure::Running(format!(
                "not ready in time: {}",
                causes.join("; ")
            )));
        }
        tokio::select! {
            () = tokio::time::sleep(READY_LOOK) => {}
            () = shutdown.requested() => return Ok(false),
        }
    }
}

fn introduce(settings: &Settings, fleet: &Fleet) -> Result<(), Failure> {
    let address = settings.socket_address("http_listen")?;
    let base = format!("http://{address}/public-api");
    output::line(&format!("\naddress   {base}/"))?;
    output::line(&format!(
        "metrics   http://{}/metrics",
        settings.socket_address("ops_listen")?
    ))?;
    output::line(&format!("broker    {}", settings.text("mqtt_url")?))?;
    output::line(&format!("login     user demo, password {PASSWORD}"))?;
    let buildings = fleet.buildings();
    let suits = |it: &&Building| it.battery.is_some() && it.solar_rated_w.is_some();
    if let Some(building) = buildings.iter().find(suits).or(buildings.first()) {
        suggest(&base, building)?;
    }
    Ok(output::line("Ctrl-C stops everything\n")?)
}

/// Lines to be copied: what the building measures, a wish, and what became of it.
fn suggest(base: &str, building: &Building) -> Result<(), Failure> {
    let login = format!(r#"{{"username":"demo","password":"{PASSWORD}"}}"#);
    let json = "-H 'Content-Type: application/json' -d";
    let token = format!(
        r#"$(curl -s {base}/token/ {json} '{login}' | sed 's/.*"access":"\([^"]*\)".*/\1/')"#
    );
    let curl = format!(
        r#"  curl -s -H "Authorization: Bearer {token}" {base}/buildings/{}"#,
        building.uuid
    );
    output::line("try")?;
    output::line(&format!("{curl}/electricity/actual/"))?;
    let (wish, action) = match (building.battery, building.solar_rated_w) {
        (Some(_), _) => (
            "charge the battery for two minutes, and look again",
            r#"{"battery_set_power_charge_watts":1000,"battery_set_power_timeout":120}"#,
        ),
        (None, Some(_)) => (
            "curtail the inverters for two minutes, and look again",
            r#"{"inverters_set_power_percentage":0,"inverters_set_power_timeout":120}"#,
        ),
        (None, None) => return Ok(()),
    };
    output::line(wish)?;
    output::line(&format!("{curl}/actions/ {json} '{action}'"))?;
    output::line("what became of it")?;
    Ok(output::line(&format!("{curl}/actions/"))?)
}

/// The settings of a demo: those of the command line, and the private servers'.
fn with_servers(settings: &Settings, servers: &[(&str, String)]) -> Result<Settings, Failure> {
    let mut flags: std::collections::BTreeMap<String, String> = servers
        .iter()
        .map(|(key, value)| ((*key).to_owned(), value.clone()))
        .collect();
    for key in ["http_listen", "ops_listen"] {
        flags.insert(key.to_owned(), settings.socket_address(key)?.to_string());
    }
    Ok(Settings::load(SETTINGS, &flags, None, &|_| None)?)
}
