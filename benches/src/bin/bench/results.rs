//! The one file of results: each work has its part in it, with every run and the medians.

use benches::{Outcome, figures};
use serde::Serialize;
use serde_json::{Value, json};
use std::fs;
use std::path::PathBuf;

/// What was measured so far, also by earlier calls.
pub(crate) struct Results {
    path: PathBuf,
    document: Value,
}

impl Results {
    /// Opens the file, or begins one.
    pub(crate) fn open(path: PathBuf) -> Outcome<Self> {
        let document = match fs::read_to_string(&path) {
            Ok(text) => serde_json::from_str(&text)
                .map_err(|error| format!("{}: {error}; remove it", path.display()))?,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => json!({}),
            Err(error) => return Err(error.into()),
        };
        Ok(Self { path, document })
    }

    /// Puts a part in the place of what was there, and writes the file.
    pub(crate) fn put(&mut self, name: &str, part: Value) -> Outcome<()> {
        self.document[name] = part;
        figures::keep(&self.document, &self.path)
    }

    /// All parts.
    pub(crate) const fn document(&self) -> &Value {
        &self.document
    }

    pub(crate) const fn path(&self) -> &PathBuf {
        &self.path
    }
}

/// All runs of one thing, with the median of each of their figures.
pub(crate) fn series(runs: &[impl Serialize]) -> Outcome<Value> {
    let runs = serde_json::to_value(runs)?;
    let values: Vec<&Value> = runs.as_array().into_iter().flatten().collect();
    Ok(json!({ "median": median(&values), "runs": runs }))
}

/// Of values of one shape: each number is the median of the numbers in its place, all else is the first's.
fn median(values: &[&Value]) -> Value {
    let each = |place: &dyn Fn(&Value) -> Option<&Value>| {
        let found: Vec<&Value> = values.iter().filter_map(|it| place(it)).collect();
        median(&found)
    };
    match values.first() {
        Some(Value::Number(_)) => {
            let mut numbers: Vec<f64> = values.iter().filter_map(|it| it.as_f64()).collect();
            numbers.sort_by(f64::total_cmp);
            let (low, high) = ((numbers.len() - 1) / 2, numbers.len() / 2);
            json!(f64::midpoint(numbers[low], numbers[high]))
        }
        Some(Value::Array(first)) => {
            let places = 0..first.len();
            places.map(|index| each(&|it| it.get(index))).collect()
        }
        Some(Value::Object(first)) => {
            let keys = first.keys();
            let places = keys.map(|key| (key.clone(), each(&|it| it.get(key))));
            Value::Object(places.collect())
        }
        Some(other @ (Value::String(_) | Value::Bool(_) | Value::Null)) => (*other).clone(),
        None => Value::Null,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_median_is_taken_place_by_place() {
        let run = |per_s: u32, seconds: f64| json!({"per_s": per_s, "costs": [{"process": "bridge", "cpu_s": seconds}]});
        let runs = [run(30, 1.5), run(10, 0.5), run(20, 2.5)];
        let series = series(&runs).unwrap();
        let wanted = json!({"per_s": 20.0, "costs": [{"process": "bridge", "cpu_s": 1.5}]});
        assert_eq!(series["median"], wanted);
        assert_eq!(series["runs"].as_array().unwrap().len(), 3);
    }

    #[test]
    fn the_median_of_an_even_number_lies_between_the_two_in_the_middle() {
        let runs = [json!(1), json!(4), json!(2), json!(100)];
        assert_eq!(series(&runs).unwrap()["median"], json!(3.0));
    }
}
