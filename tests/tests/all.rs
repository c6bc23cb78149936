//! Every integration test, in one binary so that servers start once.
#![expect(
    clippy::unwrap_used,
    reason = "a test that cannot go on fails, with its place"
)]

#[path = "all/acknowledgement.rs"]
mod acknowledgement;
#[path = "all/buckets.rs"]
mod buckets;
#[path = "all/commands.rs"]
mod commands;
#[path = "all/common_minute.rs"]
mod common_minute;
#[path = "all/connections.rs"]
mod connections;
#[path = "all/conservation.rs"]
mod conservation;
#[path = "all/dead_letters.rs"]
mod dead_letters;
#[path = "all/demo.rs"]
mod demo;
#[path = "all/equality.rs"]
mod equality;
#[path = "all/failures.rs"]
mod failures;
#[path = "all/grid_limits.rs"]
mod grid_limits;
#[path = "all/groups.rs"]
mod groups;
#[path = "all/https.rs"]
mod https;
#[path = "all/journey.rs"]
mod journey;
#[path = "all/kills.rs"]
mod kills;
#[path = "all/late.rs"]
mod late;
#[path = "all/logins.rs"]
mod logins;
#[path = "all/migrations.rs"]
mod migrations;
#[path = "all/proxies.rs"]
mod proxies;
#[path = "all/readings.rs"]
mod readings;
#[path = "all/reads.rs"]
mod reads;
#[path = "all/records.rs"]
mod records;
#[path = "all/tree.rs"]
mod tree;

/// The `wattline` under test.
const WATTLINE: &str = env!("CARGO_BIN_EXE_wattline-under-test");
