//! What `cargo bench` has measured of single functions, as criterion keeps it beside the results.

use benches::Outcome;
use serde_json::{Map, Value, json};
use std::fs;
use std::path::{Path, PathBuf};

/// Nanoseconds of each function by its full name: the median for one of what it is measured with.
pub(crate) fn measured(results: &Path) -> Outcome<Value> {
    // target/bench/results.json and target/criterion.
    let target = results.parent().and_then(Path::parent);
    let mut functions = Map::new();
    let mut folders: Vec<PathBuf> = target.map(|it| it.join("criterion")).into_iter().collect();
    while let Some(folder) = folders.pop() {
        let Ok(entries) = fs::read_dir(&folder) else {
            continue;
        };
        let entries = entries.flatten().map(|it| it.path());
        folders.extend(entries.filter(|it| it.is_dir()));
        if folder.ends_with("new") {
            let read = |name: &str| -> Outcome<Value> {
                Ok(serde_json::from_slice(&fs::read(folder.join(name))?)?)
            };
            let (about, estimates) = (read("benchmark.json")?, read("estimates.json")?);
            let name = about["full_id"].as_str().unwrap_or_default().to_owned();
            let elements = about["throughput"]["Elements"].as_f64().unwrap_or(1.0);
            let median = estimates["median"]["point_estimate"].as_f64();
            functions.insert(name, json!(median.unwrap_or_default() / elements));
        }
    }
    functions.sort_keys();
    Ok(Value::Object(functions))
}
