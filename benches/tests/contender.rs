//! `bench` with another program in the bridge's place: nothing is lost between servers that are real, and what is lost
//! is told.

use serde_json::Value;
use std::path::PathBuf;
use std::process::{Command, Output};
use tempfile::TempDir;

const RECORDS: u64 = 20_000;
const PLAIN_BRIDGE: &str = env!("CARGO_BIN_EXE_plain_bridge");

/// Runs `bench` once with a contender.
fn bench(contender: &str) -> (TempDir, Output) {
    let folder = tempfile::tempdir().unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_bench"))
        .args(["bridge", "--runs", "1", "--buildings", "100"])
        .args(["--records", &RECORDS.to_string()])
        .args(["--wattline", env!("CARGO_BIN_EXE_wattline-under-bench")])
        .args(["--contender", contender])
        .arg("--json")
        .arg(results(&folder))
        .output()
        .unwrap();
    (folder, output)
}

fn results(folder: &TempDir) -> PathBuf {
    folder.path().join("bench").join("results.json")
}

fn told(folder: &TempDir, output: &Output) -> Value {
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    let text = std::fs::read(results(folder)).unwrap();
    let results: Value = serde_json::from_slice(&text).unwrap();
    results["contender"].clone()
}

fn assert_lossless(counted: &Value) {
    assert_eq!(counted["found"], RECORDS, "{counted}");
    for name in ["missing", "doubled", "unexpected"] {
        assert_eq!(counted[name], 0, "{name}: {counted}");
    }
}

#[test]
fn a_contender_and_ours_lose_nothing_and_are_compared() {
    let (folder, output) = bench(PLAIN_BRIDGE);
    let told = told(&folder, &output);
    for entrant in ["ours", "other"] {
        let run = &told[entrant]["runs"][0];
        assert_lossless(&run["counted"]);
        let costs = run["costs"].as_array().unwrap();
        let names: Vec<&str> = costs
            .iter()
            .filter_map(|it| it["process"].as_str())
            .collect();
        assert_eq!(names, ["bridge", "mosquitto", "kafka", "load"], "{entrant}");
        assert!(costs.iter().all(|it| it["cpu_s"].as_f64() > Some(0.0)));
        assert!(costs.iter().all(|it| it["peak_mib"].as_f64() > Some(1.0)));
    }
    for figure in ["records_per_s", "cpu_s_per_million", "peak_mib"] {
        assert!(told["ratio"][figure].as_f64() > Some(0.0), "{figure}");
    }
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(
        said.contains("| bridge, records lost or doubled | none |"),
        "{said}"
    );
}

#[test]
fn a_contender_that_drops_records_is_told_as_losing_them() {
    // Its schema allows of all meters only those that are degraded, about a quarter; it drops the others.
    let folder = tempfile::tempdir().unwrap();
    let schema = folder.path().join("narrow.json");
    let narrow = r#"{"properties": {"solar": {"properties": {"status": {"const": "degraded"}}}}}"#;
    std::fs::write(&schema, narrow).unwrap();
    let schema = schema.display();
    let (results, output) = bench(&format!("BENCH_SCHEMA_FILE={schema} exec {PLAIN_BRIDGE}"));
    let told = told(&results, &output);
    let counted = &told["other"]["runs"][0]["counted"];
    let missing = counted["missing"].as_u64().unwrap();
    assert!((RECORDS / 2..RECORDS).contains(&missing), "{counted}");
    assert_eq!(counted["found"].as_u64().unwrap() + missing, RECORDS);
    assert_lossless(&told["ours"]["runs"][0]["counted"]);
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(
        said.contains(&format!("{missing} missing, 0 doubled")),
        "{said}"
    );
}
