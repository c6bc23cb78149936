//! What `cargo bench` has measured of single functions: its files lie beside the results.

use benches::Outcome;
use serde_json::{Map, Value};
use std::fs;
use std::io::ErrorKind;
use std::path::Path;

/// The benches, each with a file of its own.
const BENCHES: [&str; 3] = ["parse", "paths", "desired"];

/// All groups of all benches: `{group: [{name, median_ns, best_ns, times}]}`; nothing of a bench that was not run.
pub(crate) fn measured(results: &Path) -> Outcome<Value> {
    let mut groups = Map::new();
    for bench in BENCHES {
        let path = results.with_file_name(bench).with_extension("json");
        match fs::read(&path) {
            Ok(text) => groups.extend(serde_json::from_slice::<Map<String, Value>>(&text)?),
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(Value::Object(groups))
}

/// Nanoseconds of one item of a group: the median.
pub(crate) fn nanoseconds(results: &Value, group: &str, name: &str) -> Option<f64> {
    let rows = results["functions"][group].as_array()?;
    let row = rows.iter().find(|it| it["name"] == name)?;
    row["median_ns"].as_f64()
}

/// The groups as a table of Markdown, each with its alternatives side by side; empty when nothing was measured.
pub(crate) fn markdown(results: &Value) -> String {
    let groups = results["functions"].as_object().into_iter().flatten();
    let line = |(group, rows): (&String, &Value)| {
        let rows = rows.as_array().into_iter().flatten();
        let cell = |row: &Value| {
            let name = row["name"].as_str().unwrap_or_default();
            format!(
                "{name} {:.0}",
                row["median_ns"].as_f64().unwrap_or_default()
            )
        };
        let cells: Vec<String> = rows.map(cell).collect();
        format!("| {group} | {} |\n", cells.join("; "))
    };
    let lines: String = groups.map(line).collect();
    if lines.is_empty() {
        return lines;
    }
    format!("\n| single functions | nanoseconds an item, ours first |\n|---|---|\n{lines}")
}
