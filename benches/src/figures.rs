//! What is done with figures: percentiles, words about targets, a table on the terminal, a file.

use crate::Outcome;
use serde_json::Value;
use std::fs;
use std::io::{self, Write as _};
use std::path::Path;
use std::process::ExitCode;

/// The smallest that at least so many of a hundred do not exceed; 0 of none.
#[must_use]
pub fn percentile(sorted: &[f64], percent: usize) -> f64 {
    let rank = (sorted.len() * percent).div_ceil(100);
    let value = sorted.get(rank.saturating_sub(1));
    value.copied().unwrap_or_default()
}

/// The words for a figure and its target.
#[must_use]
pub const fn verdict(reached: bool) -> &'static str {
    if reached { "reached" } else { "NOT REACHED" }
}

/// Writes a line to standard output at once.
///
/// # Errors
/// When nobody takes it.
pub fn say(text: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    writeln!(out, "{text}")?;
    out.flush()
}

/// Writes the file for programs.
///
/// # Errors
/// When the file system does not take it.
pub fn keep(document: &Value, path: &Path) -> Outcome<()> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    Ok(fs::write(path, format!("{document:#}\n"))?)
}

/// How a program ends that was to find out whether all was well; an error is told with the program's name.
#[must_use]
pub fn end(program: &str, all_well: Outcome<bool>) -> ExitCode {
    match all_well {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            let told = writeln!(io::stderr().lock(), "{program}: {error}");
            ExitCode::from(if told.is_ok() { 1 } else { 2 })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_percentile_is_a_value_that_was_seen() {
        let sorted: Vec<f64> = (1..=200).map(f64::from).collect();
        assert_eq!(percentile(&sorted, 50), 100.0);
        assert_eq!(percentile(&sorted, 99), 198.0);
        assert_eq!(percentile(&sorted, 100), 200.0);
        assert_eq!(percentile(&sorted[..1], 99), 1.0);
        assert_eq!(percentile(&[], 99), 0.0);
    }
}
