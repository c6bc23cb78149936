//! The shipped rules: that they are whole, and how they are made quick enough for a test.

use ops::metrics::{Counter, Gauge, Histogram};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// The file that is shipped.
pub(super) fn path() -> PathBuf {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR"));
    tests.parent().unwrap().join("deploy/prometheus/alerts.yml")
}

fn shipped() -> String {
    std::fs::read_to_string(path()).unwrap()
}

/// The names of all alerts, in the file's order.
pub(super) fn names() -> Vec<String> {
    let shipped = shipped();
    let names = shipped
        .lines()
        .filter_map(|line| line.trim().strip_prefix("- alert: "));
    names.map(str::to_owned).collect()
}

/// How many times sooner everything happens in the test: what is a minute in the shipped rules is a second.
const FACTOR: f64 = 60.0;

/// The shipped rules with every time divided by [`FACTOR`]: `for`, the ranges `[10m]`, and what a metric that ends in
/// `_seconds` is compared with. All else is as shipped.
pub(super) fn scaled() -> String {
    let lines: Vec<String> = shipped().lines().map(scale).collect();
    lines.join("\n")
}

fn scale(line: &str) -> String {
    if let Some((before, minutes)) = line.split_once("for: ") {
        let minutes = minutes.strip_suffix('m').unwrap();
        return format!("{before}for: {minutes}s");
    }
    let line = line.replace("m]", "s]");
    let mut scaled = String::new();
    let mut rest = line.as_str();
    while let Some((before, after)) = rest.split_once("_seconds > ") {
        let end = after
            .find(|it: char| !it.is_ascii_digit())
            .unwrap_or(after.len());
        let (number, behind) = after.split_at(end);
        let seconds: f64 = number.parse().unwrap();
        scaled.push_str(&format!("{before}_seconds > {}", seconds / FACTOR));
        rest = behind;
    }
    scaled + rest
}

#[test]
fn only_times_are_scaled() {
    let check = |shipped, expected: &str| assert_eq!(scale(shipped), expected);
    check("        for: 5m", "        for: 5s");
    check(
        "a > 0 and delta(b[10m]) > 0 and c_seconds > 120",
        "a > 0 and delta(b[10s]) > 0 and c_seconds > 2",
    );
    check(
        "b_bucket{le=\"2.5\"}[10m]) > 0",
        "b_bucket{le=\"2.5\"}[10s]) > 0",
    );
    check("severity: critical", "severity: critical");
}

#[test]
fn promtool_takes_the_rules_as_shipped_and_scaled() {
    assert_eq!(embedded::check_rules(&path()), Ok(()));
    let folder = embedded::temporary_folder().unwrap();
    let quick = folder.path().join("alerts.yml");
    std::fs::write(&quick, scaled()).unwrap();
    assert_eq!(embedded::check_rules(&quick), Ok(()));
}

#[test]
fn every_alert_has_a_severity_a_summary_a_fault_and_a_place_in_the_docs() {
    let page = path().ancestors().nth(3).unwrap().join("docs/alerts.md");
    let page = std::fs::read_to_string(page).unwrap();
    let headings: Vec<&str> = page
        .lines()
        .filter_map(|it| it.strip_prefix("## "))
        .collect();
    assert_eq!(
        headings,
        names(),
        "docs/alerts.md has the alerts, in their order"
    );
    let shipped = shipped();
    let blocks: Vec<&str> = shipped.split("- alert: ").skip(1).collect();
    for (name, block) in names().iter().zip(blocks) {
        let anchor = format!("runbook: docs/alerts.md#{}\n", name.to_lowercase());
        for part in ["severity: ", "summary: \"", anchor.as_str()] {
            assert!(format!("{block}\n").contains(part), "{name} has no {part}");
        }
        let (_, section) = page.split_once(&format!("## {name}\n")).unwrap();
        let section = section.split("\n## ").next().unwrap();
        assert!(
            section.contains("**Do**") && section.contains("**Over**"),
            "{name}"
        );
    }
    let faults: BTreeSet<&str> = super::faults::FAULTS
        .iter()
        .flat_map(|it| it.0.iter().copied())
        .collect();
    let names = names();
    assert_eq!(faults, names.iter().map(String::as_str).collect());
}

#[test]
fn every_metric_in_a_rule_or_in_the_docs_is_in_the_table() {
    let counters = Counter::ALL.map(|it| it.row().name);
    let gauges = Gauge::ALL.map(|it| it.row().name);
    let histograms = Histogram::ALL.map(|it| it.row().name);
    let mut known: BTreeSet<String> = [&counters[..], &gauges[..], &histograms[..]]
        .concat()
        .into_iter()
        .map(str::to_owned)
        .collect();
    for name in histograms {
        known.extend(["_bucket", "_count", "_sum"].map(|end| format!("{name}{end}")));
    }
    let page = path().ancestors().nth(3).unwrap().join("docs/alerts.md");
    let text = shipped() + &std::fs::read_to_string(page).unwrap();
    let words = text.split(|it: char| !(it.is_ascii_alphanumeric() || it == '_'));
    let used: BTreeSet<&str> = words.filter(|it| it.starts_with("wattline_")).collect();
    assert!(used.len() > 20);
    for name in used {
        assert!(
            known.contains(name),
            "{name} is not in the table of metrics"
        );
    }
}
