//! The results as tables of Markdown: what was to be reached, and what everything cost.

use benches::Outcome;
use serde_json::Value;
use std::fs;
use std::path::Path;

/// Between these two lines a file has the table.
const BEGIN: &str = "<!-- make bench -->";
const END: &str = "<!-- /make bench -->";

/// The tables; what was not measured is left out.
pub(crate) fn markdown(results: &Value) -> String {
    let mut text = format!(
        "{}\n\n| work | measured | to reach |\n|---|---|---|\n",
        setting(results)
    );
    for rows in [validator, bridge, database, reads] {
        for [work, measured, to_reach] in rows(results) {
            text += &format!("| {work} | {measured} | {to_reach} |\n");
        }
    }
    text + &costs(results)
}

/// Puts the table in the place of what a file has between the markers.
pub(crate) fn write_between_markers(path: &Path, table: &str) -> Outcome<()> {
    let text = fs::read_to_string(path)?;
    let parts = text.split_once(BEGIN);
    let parts = parts.and_then(|(before, rest)| Some((before, rest.split_once(END)?.1)));
    let (before, after) = parts.ok_or_else(|| {
        let path = path.display();
        format!("{path} has no line {BEGIN} with a line {END} after it")
    })?;
    Ok(fs::write(
        path,
        format!("{before}{BEGIN}\n{table}{END}{after}"),
    )?)
}

type Row = [String; 3];

fn row(work: &str, measured: String, to_reach: &str) -> Row {
    [work.to_owned(), measured, to_reach.to_owned()]
}

fn setting(results: &Value) -> String {
    let (machine, settings) = (&results["machine"], &results["settings"]);
    let gib = number(&machine["memory_mib"]) / 1024.0;
    let processor = machine["processor"].as_str().unwrap_or("unknown");
    let edition = results["pipeline"]["database"].as_str();
    format!(
        "{} cores ({processor}), {gib:.0} GiB, every server and the load on the same machine; medians of {} runs. {} \
         records a run (into the database: half of it) of {} buildings over {} connections, QoS 1, {} in flight on each; \
         Mosquitto with a queue of 1,000,000, Kafka with one broker, 6 partitions, lz4; {}, with fsync.",
        machine["cores"],
        settings["runs"],
        thousands(number(&settings["records"])),
        thousands(number(&settings["buildings"])),
        settings["connections"],
        settings["in_flight"],
        edition.unwrap_or("PostgreSQL"),
    )
}

fn validator(results: &Value) -> Vec<Row> {
    let time = |name: &str| results["functions"][name].as_f64();
    let line = |work: &str, shape: &str, reader: &str, to_reach: &str| {
        let own = time(&format!("{shape}/{reader}"))?;
        let times = |other: &str| time(&format!("{shape}/{other}")).unwrap_or_default() / own;
        let (judge, sonic) = (times("serde_json + jsonschema"), times("sonic-rs typed"));
        let measured =
            format!("{own:.0} ns; {judge:.1} × value + jsonschema, {sonic:.1} × sonic-rs");
        Some(row(work, measured, to_reach))
    };
    let rows = [
        line(
            "validate and extract one record, all fields, compact, in order, portable and safe",
            "compact",
            "wire, portable validator",
            "250 ns; 12 ×, 4 ×",
        ),
        line(
            "the same, with AVX-512 where it helps",
            "compact",
            "wire",
            "90 ns; 30 ×, 10 ×",
        ),
        line(
            "the same, keys shuffled and pretty-printed",
            "shuffled",
            "wire",
            "700 ns",
        ),
    ];
    rows.into_iter().flatten().collect()
}

fn bridge(results: &Value) -> Vec<Row> {
    let mut rows = Vec::new();
    for (part, other_name) in [("bridge", "plain bridge"), ("contender", "contender")] {
        let part = &results[part];
        if part.is_null() {
            continue;
        }
        let (ours, other) = (&part["ours"]["median"], &part["other"]["median"]);
        let times = |name: &str| number(&part["ratio"][name]);
        let cost = |it: &Value, name: &str| number(&process(it, "bridge")[name]);
        let mut line = |work: &str, ours: String, other: String, times: f64, to_reach: &str| {
            let measured = format!("{ours} ({other_name} {other}: {times:.1} ×)");
            rows.push(row(work, measured, to_reach));
        };
        line(
            "bridge with validation, processor seconds per million records",
            format!("{:.1}", cost(ours, "cpu_s_per_million")),
            format!("{:.1}", cost(other, "cpu_s_per_million")),
            times("cpu_s_per_million"),
            "8",
        );
        line(
            "bridge with validation, records/s",
            thousands(number(&ours["records_per_s"])),
            thousands(number(&other["records_per_s"])),
            times("records_per_s"),
            "40,000",
        );
        line(
            "bridge, peak memory",
            format!("{:.0} MiB", cost(ours, "peak_mib")),
            format!("{:.0} MiB", cost(other, "peak_mib")),
            times("peak_mib"),
            "32 MiB",
        );
        rows.push(row(
            "bridge, records lost or doubled",
            loss(&part["ours"]),
            "none",
        ));
        rows.push(row(
            &format!("{other_name}, records lost or doubled"),
            loss(&part["other"]),
            "–",
        ));
    }
    rows
}

fn database(results: &Value) -> Vec<Row> {
    let mut rows = Vec::new();
    let aggregator = &results["aggregator"]["ours"];
    if !aggregator.is_null() {
        let median = &aggregator["median"];
        let cost = |name: &str| number(&process(median, name)["cpu_s_per_million"]);
        let (ours, server) = (cost("aggregator"), cost("postgresql"));
        rows.push(row(
            "Kafka → database with identity, buckets and registers, ours + PostgreSQL's processor seconds per million",
            format!("{ours:.1} + {server:.1} = {:.1}", ours + server),
            "14",
        ));
        let (per_s, later) = (&median["records_per_s"], number(&median["buckets_after_s"]));
        let per_s = thousands(number(per_s));
        let measured = format!(
            "{per_s}; the last bucket {later:.1} s later; {}",
            loss(aggregator)
        );
        rows.push(row(
            "Kafka → database, records/s; lost or doubled",
            measured,
            "none",
        ));
    }
    let pipeline = &results["pipeline"];
    for (part, work) in [
        (
            "full_speed",
            "publish → stored at full speed, records/s; lost or doubled",
        ),
        (
            "sustained",
            "publish → stored at a fixed rate, records/s; lost or doubled",
        ),
    ] {
        let part = &pipeline[part];
        if let Some(per_s) = part["median"]["records_per_s"].as_f64() {
            let measured = format!("{}; {}", thousands(per_s), loss(part));
            rows.push(row(work, measured, "25,000; none"));
        }
    }
    let latency = &pipeline["readable"]["median"]["latency"];
    if !latency.is_null() {
        let (p50, p99) = (number(&latency["p50_s"]), number(&latency["p99_s"]));
        rows.push(row(
            "publish → readable at 1,000 records/s, median, 99th percentile",
            format!("{p50:.3} s, {p99:.3} s"),
            "–, 1 s",
        ));
    }
    let outage = &pipeline["outage"];
    if !outage.is_null() {
        let (times, seconds) = (number(&outage["times_real_time"]), &outage["seconds"]);
        let work = format!("{seconds} s without an aggregator made good, times real time");
        rows.push(row(&work, format!("{times:.1}"), "5"));
    }
    rows
}

fn reads(results: &Value) -> Vec<Row> {
    let reads = results["reads"]["reads"].as_array().into_iter().flatten();
    let line = |it: &Value| {
        let (p50, p99) = (number(&it["p50_ms"]), number(&it["p99_ms"]));
        let read = it["read"].as_str().unwrap_or_default();
        let work = format!("`{read}` at 500 requests/s, median, 99th percentile");
        row(&work, format!("{p50:.1} ms, {p99:.1} ms"), "5 ms, 20 ms")
    };
    reads.map(line).collect()
}

/// Processor seconds per million records, and peak memory, of every process of every work.
fn costs(results: &Value) -> String {
    const PROCESSES: [&str; 7] = [
        "bridge",
        "aggregator",
        "api",
        "mosquitto",
        "kafka",
        "postgresql",
        "load",
    ];
    let pipeline = &results["pipeline"];
    let works = [
        ("bridge alone", &results["bridge"]["ours"]["median"]),
        (
            "plain bridge in its place",
            &results["bridge"]["other"]["median"],
        ),
        (
            "contender in its place",
            &results["contender"]["other"]["median"],
        ),
        ("aggregator alone", &results["aggregator"]["ours"]["median"]),
        ("end to end, full speed", &pipeline["full_speed"]["median"]),
        (
            "end to end, 1,000/s",
            &pipeline["readable"]["median"]["load"],
        ),
        ("api, 500 requests/s", &results["reads"]),
    ];
    let mut text = format!(
        "\nProcessor seconds per million records (of the api: requests) / peak memory in MiB:\n\n| | {} |\n|---|{}\n",
        PROCESSES.join(" | "),
        "---|".repeat(PROCESSES.len()),
    );
    for (work, median) in works {
        if !median["costs"].is_array() {
            continue;
        }
        let cells = PROCESSES.map(|name| {
            let cost = process(median, name);
            let (seconds, peak) = (&cost["cpu_s_per_million"], &cost["peak_mib"]);
            match (seconds.as_f64(), peak.as_f64()) {
                (Some(seconds), Some(peak)) => format!("{seconds:.1} / {peak:.0}"),
                _ => "–".to_owned(),
            }
        });
        text += &format!("| {work} | {} |\n", cells.join(" | "));
    }
    text
}

/// What a process has cost in a run.
fn process<'a>(run: &'a Value, name: &str) -> &'a Value {
    let mut costs = run["costs"].as_array().into_iter().flatten();
    let found = costs.find(|it| it["process"] == name);
    found.unwrap_or(&Value::Null)
}

/// The worst run of a series, in words.
fn loss(series: &Value) -> String {
    let runs = series["runs"].as_array().into_iter().flatten();
    let counts =
        |run: &Value| ["missing", "doubled", "unexpected"].map(|it| number(&run["counted"][it]));
    let worst = runs
        .map(counts)
        .max_by(|a, b| a.iter().sum::<f64>().total_cmp(&b.iter().sum()));
    match worst {
        Some([missing, doubled, unexpected]) if missing + doubled + unexpected > 0.0 => {
            format!("{missing} missing, {doubled} doubled, {unexpected} unexpected")
        }
        Some(_) | None => "none".to_owned(),
    }
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_default()
}

/// A whole number with commas.
fn thousands(number: f64) -> String {
    let digits = format!("{number:.0}");
    let groups: Vec<&str> = digits
        .as_bytes()
        .rchunks(3)
        .rev()
        .filter_map(|it| std::str::from_utf8(it).ok())
        .collect();
    groups.join(",")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_table_takes_the_place_of_the_one_before_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("README.md");
        fs::write(&path, format!("before\n{BEGIN}\nold\n{END}\nafter\n")).unwrap();
        write_between_markers(&path, "new\n").unwrap();
        let text = fs::read_to_string(&path).unwrap();
        assert_eq!(text, format!("before\n{BEGIN}\nnew\n{END}\nafter\n"));
        fs::write(&path, "no markers").unwrap();
        assert!(write_between_markers(&path, "new\n").is_err());
    }

    #[test]
    fn the_worst_run_is_told() {
        let run =
            |missing: u32| json!({"counted": {"missing": missing, "doubled": 0, "unexpected": 0}});
        assert_eq!(loss(&json!({"runs": [run(0), run(0)]})), "none");
        let told = loss(&json!({"runs": [run(0), run(7)]}));
        assert_eq!(told, "7 missing, 0 doubled, 0 unexpected");
    }

    #[test]
    fn numbers_have_commas() {
        assert_eq!(thousands(1_234_567.4), "1,234,567");
        assert_eq!(thousands(999.0), "999");
    }
}
