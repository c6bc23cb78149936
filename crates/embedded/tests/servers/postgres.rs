use std::{
    fs,
    process::{Command, Stdio},
};

use embedded::{Edition, Postgres, PostgresOptions, StartFailure};

use crate::running;

fn start(edition: Edition) -> (tempfile::TempDir, Postgres) {
    let folder = embedded::temporary_folder().unwrap();
    let postgres = Postgres::start(&options(&folder, edition)).unwrap();
    (folder, postgres)
}

fn options(folder: &tempfile::TempDir, edition: Edition) -> PostgresOptions {
    PostgresOptions {
        durable: false,
        ..PostgresOptions::new(folder.path().join("db"), edition)
    }
}

fn query(url: &str, statement: &str) -> String {
    let output = Command::new("psql")
        .args([url, "-XAtqc", statement])
        .output()
        .unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{statement}: {errors}");
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

#[test]
fn a_commit_survives_a_kill() {
    let (_folder, mut postgres) = start(Edition::Plain);
    postgres.create_database("wattline").unwrap();
    let url = postgres.url("wattline");
    query(&url, "create table kept as select 7 as seven");
    postgres.kill();
    postgres.restart().unwrap();
    assert_eq!(query(&url, "select seven from kept"), "7");
}

#[test]
fn a_database_may_be_there_already() {
    let (_folder, postgres) = start(Edition::Plain);
    postgres.create_database("odd \"name\"").unwrap();
    postgres.create_database("odd \"name\"").unwrap();
    let known = "select count(*) from pg_database where datname = 'odd \"name\"'";
    assert_eq!(query(&postgres.url("postgres"), known), "1");
}

#[test]
fn a_kill_reaches_every_process() {
    let (folder, mut postgres) = start(Edition::Plain);
    let url = postgres.url("postgres");
    let mut sleeper = Command::new("psql")
        .args([&url, "-c", "select pg_sleep(60)"])
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let asleep = "select count(*) from pg_stat_activity where query like 'select pg_sleep%'";
    running::eventually("a session sleeps", || query(&url, asleep) == "1");
    let folder = folder.path().display().to_string();
    assert!(running::with(&folder) > 5);
    postgres.kill();
    sleeper.wait().unwrap();
    // Those that the kernel handed to another parent are reaped by it, in a moment.
    running::eventually("no process is left", || running::with(&folder) == 0);
}

#[test]
fn a_dropped_server_leaves_no_process() {
    let (folder, postgres) = start(Edition::Plain);
    let folder = folder.path().display().to_string();
    drop(postgres);
    running::eventually("no process is left", || running::with(&folder) == 0);
}

#[test]
fn a_frozen_server_goes_on_when_thawed() {
    let (_folder, postgres) = start(Edition::Plain);
    postgres.freeze();
    assert!(postgres.create_database("late").is_err());
    postgres.thaw();
    postgres.create_database("in_time").unwrap();
}

#[test]
fn a_data_folder_of_another_version_is_refused() {
    let (folder, postgres) = start(Edition::Plain);
    drop(postgres);
    fs::write(folder.path().join("db/data/PG_VERSION"), "9.6\n").unwrap();
    let failure = Postgres::start(&options(&folder, Edition::Plain)).unwrap_err();
    assert!(
        failure.to_string().contains("belongs to PostgreSQL 9.6"),
        "{failure}"
    );
}

#[test]
fn a_server_that_cannot_start_tells_why() {
    let (folder, postgres) = start(Edition::Plain);
    drop(postgres);
    let settings = folder.path().join("db/data/postgresql.conf");
    fs::write(settings, "no_such_setting = 1\n").unwrap();
    let failure = Postgres::start(&options(&folder, Edition::Plain)).unwrap_err();
    assert!(matches!(failure, StartFailure::Died { .. }), "{failure}");
    assert!(failure.to_string().contains("no_such_setting"), "{failure}");
}

#[test]
fn a_half_made_data_folder_is_made_anew() {
    let folder = embedded::temporary_folder().unwrap();
    fs::create_dir_all(folder.path().join("db/data.new/base")).unwrap();
    let postgres = Postgres::start(&options(&folder, Edition::Plain)).unwrap();
    assert_eq!(query(&postgres.url("postgres"), "select 1"), "1");
}

#[test]
fn a_long_path_has_its_socket_elsewhere() {
    let folder = embedded::temporary_folder().unwrap();
    let long = folder.path().join("x".repeat(100));
    fs::create_dir_all(&long).unwrap();
    let options = PostgresOptions::new(long.join("db"), Edition::Plain);
    let postgres = Postgres::start(&options).unwrap();
    assert_eq!(query(&postgres.url("postgres"), "show fsync"), "on");
}

#[test]
fn a_tcp_port_answers_too() {
    let folder = embedded::temporary_folder().unwrap();
    let mut options = options(&folder, Edition::Plain);
    options.tcp_port = Some(14_884);
    let postgres = Postgres::start(&options).unwrap();
    assert_eq!(
        query("postgres://postgres@127.0.0.1:14884/postgres", "select 1"),
        "1"
    );
    assert_eq!(query(&postgres.url("postgres"), "select 1"), "1");
}

#[test]
fn timescale_makes_hypertables_and_keeps_them_over_a_kill() {
    let (_folder, mut postgres) = start(Edition::Timescale);
    let url = postgres.url("postgres");
    query(&url, "create extension timescaledb");
    query(
        &url,
        "create table samples (at timestamptz not null, watt int)",
    );
    query(&url, "select create_hypertable('samples', 'at')");
    query(
        &url,
        "insert into samples values ('2026-03-29 00:30Z', 5), ('2026-03-29 01:30Z', 7)",
    );
    let count = "select count(*), max(time_bucket('1 hour', at) at time zone 'Europe/Amsterdam') from samples";
    assert_eq!(query(&url, count), "2|2026-03-29 03:00:00");
    postgres.kill();
    postgres.restart().unwrap();
    assert_eq!(query(&url, count), "2|2026-03-29 03:00:00");
    assert_eq!(query(&url, "show timescaledb.license"), "apache");
}
