//! Every integration test, in one binary so that servers start once.
#![expect(
    clippy::unwrap_used,
    reason = "a test that cannot go on fails, with its place"
)]

#[path = "all/acknowledgement.rs"]
mod acknowledgement;
#[path = "all/actions.rs"]
mod actions;
#[path = "all/administration.rs"]
mod administration;
#[path = "all/admissions.rs"]
mod admissions;
#[path = "all/alerts.rs"]
mod alerts;
#[path = "all/audit.rs"]
mod audit;
#[path = "all/authorisation.rs"]
mod authorisation;
#[path = "all/backup.rs"]
mod backup;
#[path = "all/buckets.rs"]
mod buckets;
#[path = "all/client.rs"]
mod client;
#[path = "all/comfort.rs"]
mod comfort;
#[path = "all/commands.rs"]
mod commands;
#[path = "all/common_minute.rs"]
mod common_minute;
#[path = "all/connections.rs"]
mod connections;
#[path = "all/conservation.rs"]
mod conservation;
#[path = "all/contract.rs"]
mod contract;
#[path = "all/control.rs"]
mod control;
#[path = "all/control_histories.rs"]
mod control_histories;
#[path = "all/copied.rs"]
mod copied;
#[path = "all/dead_letters.rs"]
mod dead_letters;
#[path = "all/demo.rs"]
mod demo;
#[path = "all/disabling.rs"]
mod disabling;
#[path = "all/encrypted.rs"]
mod encrypted;
#[path = "all/equality.rs"]
mod equality;
#[path = "all/failed_logins.rs"]
mod failed_logins;
#[path = "all/failures.rs"]
mod failures;
#[path = "all/fleets.rs"]
mod fleets;
#[path = "all/flood.rs"]
mod flood;
#[path = "all/frozen.rs"]
mod frozen;
#[path = "all/grid_limits.rs"]
mod grid_limits;
#[path = "all/groups.rs"]
mod groups;
#[path = "all/hostile.rs"]
mod hostile;
#[path = "all/http_fuzz.rs"]
mod http_fuzz;
#[path = "all/https.rs"]
mod https;
#[path = "all/journey.rs"]
mod journey;
#[path = "all/key_rotation.rs"]
mod key_rotation;
#[path = "all/key_values.rs"]
mod key_values;
#[path = "all/kills.rs"]
mod kills;
#[path = "all/late.rs"]
mod late;
#[path = "all/leaving.rs"]
mod leaving;
#[path = "all/logins.rs"]
mod logins;
#[path = "all/meter_readings.rs"]
mod meter_readings;
#[path = "all/meter_reads.rs"]
mod meter_reads;
#[path = "all/meter_records.rs"]
mod meter_records;
#[path = "all/migrations.rs"]
mod migrations;
#[path = "all/mqtt_wire.rs"]
mod mqtt_wire;
#[path = "all/obedience.rs"]
mod obedience;
#[path = "all/openapi.rs"]
mod openapi;
#[path = "all/poison.rs"]
mod poison;
#[path = "all/proxies.rs"]
mod proxies;
#[path = "all/rate_limit.rs"]
mod rate_limit;
#[path = "all/read_plans.rs"]
mod read_plans;
#[path = "all/readings.rs"]
mod readings;
#[path = "all/reads.rs"]
mod reads;
#[path = "all/rebuild.rs"]
mod rebuild;
#[path = "all/records.rs"]
mod records;
#[path = "all/register_oracle.rs"]
mod register_oracle;
#[path = "all/reported.rs"]
mod reported;
#[path = "all/restarts.rs"]
mod restarts;
#[path = "all/retention.rs"]
mod retention;
#[path = "all/scale.rs"]
mod scale;
#[path = "all/secrets.rs"]
mod secrets;
#[path = "all/simulated.rs"]
mod simulated;
#[path = "all/site.rs"]
mod site;
#[path = "all/statements.rs"]
mod statements;
#[path = "all/stretches.rs"]
mod stretches;
#[path = "all/telling.rs"]
mod telling;
#[path = "all/tokens.rs"]
mod tokens;
#[path = "all/tree.rs"]
mod tree;
#[path = "all/upgrade.rs"]
mod upgrade;

/// The `wattline` under test.
const WATTLINE: &str = env!("CARGO_BIN_EXE_wattline-under-test");
