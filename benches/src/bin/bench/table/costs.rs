//! What every process of every work has cost.

use super::process;
use serde_json::Value;

/// Processor seconds per million records, and peak memory, of every process of every work.
pub(super) fn markdown(results: &Value) -> String {
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
