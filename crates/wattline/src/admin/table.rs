//! Lists on standard output: aligned columns, or one JSON object a line.

use crate::admin::option;
use crate::failure::Failure;
use crate::output;
use clap::{Arg, ArgMatches};
use serde_json::{Map, Value};

/// What is listed; the column names are also the keys of the objects.
pub(super) struct Table {
    columns: &'static [&'static str],
    rows: Vec<Vec<Value>>,
}

pub(super) fn format() -> Arg {
    option("format", "FORMAT", "text, or json: one object a line")
        .value_parser(["text", "json"])
        .default_value("text")
}

/// Whether `--format` asks for objects.
pub(super) fn as_json(matches: &ArgMatches) -> bool {
    matches
        .get_one::<String>("format")
        .is_some_and(|format| format == "json")
}

impl Table {
    /// A table of rows, each with a value for every column.
    pub(super) fn new(columns: &'static [&'static str], rows: Vec<Vec<Value>>) -> Self {
        Self { columns, rows }
    }

    /// Prints it in the form that `--format` asks for.
    pub(super) fn print(&self, matches: &ArgMatches) -> Result<(), Failure> {
        let lines = if as_json(matches) {
            self.json()
        } else {
            self.text()
        };
        for line in lines {
            output::foreign_line(&line)?;
        }
        Ok(())
    }

    fn json(&self) -> Vec<String> {
        let object = |row: &Vec<Value>| {
            let names = self.columns.iter().map(|name| (*name).to_owned());
            Value::Object(names.zip(row.iter().cloned()).collect::<Map<_, _>>()).to_string()
        };
        self.rows.iter().map(object).collect()
    }

    fn text(&self) -> Vec<String> {
        let head = self.columns.iter().map(|name| (*name).to_owned()).collect();
        let mut lines = vec![head];
        let cells = |row: &Vec<Value>| row.iter().map(cell).collect::<Vec<String>>();
        lines.extend(self.rows.iter().map(cells));
        let widths: Vec<usize> = (0..self.columns.len())
            .map(|column| {
                let lengths = lines.iter().filter_map(|line| line.get(column));
                lengths.map(|it| it.chars().count()).max().unwrap_or(0)
            })
            .collect();
        let aligned = |line: Vec<String>| {
            let cells = line.iter().zip(&widths);
            let padded: Vec<String> = cells.map(|(it, width)| format!("{it:<width$}")).collect();
            padded.join("  ").trim_end().to_owned()
        };
        lines.into_iter().map(aligned).collect()
    }
}

fn cell(value: &Value) -> String {
    match value {
        Value::Null => "-".to_owned(),
        // Names are other people's texts: nothing that moves a terminal's cursor.
        Value::String(text) => text
            .chars()
            .map(|it| if it.is_control() { '\u{fffd}' } else { it })
            .collect(),
        other @ (Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_)) => {
            other.to_string()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn columns_are_aligned_and_objects_stand_a_line_each() {
        let rows = vec![
            vec![json!("ada\u{7}"), json!(2), Value::Null],
            vec![json!("grace hopper"), json!(10), json!(true)],
        ];
        let table = Table::new(&["username", "buildings", "note"], rows);
        assert_eq!(
            table.text(),
            [
                "username      buildings  note",
                "ada\u{fffd}          2          -",
                "grace hopper  10         true",
            ]
        );
        assert_eq!(
            table.json()[1],
            r#"{"username":"grace hopper","buildings":10,"note":true}"#
        );
    }
}
