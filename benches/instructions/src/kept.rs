//! The accepted counts, and what is said of others.

use crate::Outcome;
use crate::count::Counted;
use std::fmt::Write as _;
use std::path::Path;
use toml::Table;

/// The compiler of this program.
const COMPILER: &str = env!("COMPILER");

/// What a failed comparison ends with.
pub(crate) const HOW_TO_ACCEPT: &str = "\
If this is meant, `make instructions-accept` keeps the new counts in benches/instructions/counts.toml; commit it with the \
change, and tell in the message why.";

/// What stands in the file.
#[derive(Debug)]
pub(crate) struct Kept {
    compiler: String,
    tolerance_percent: f64,
    tolerance_percent_of_other_compilers: f64,
    counts: Table,
}

impl Kept {
    /// Reads the file.
    pub(crate) fn read(file: &Path) -> Outcome<Self> {
        let text = std::fs::read_to_string(file)
            .map_err(|error| format!("{}: {error}", file.display()))?;
        Self::parse(&text).map_err(|error| format!("{}: {error}", file.display()).into())
    }

    fn parse(text: &str) -> Outcome<Self> {
        let table: Table = text.parse()?;
        let number = |key: &str| {
            let value = table.get(key).and_then(toml::Value::as_float);
            value.ok_or_else(|| format!("{key} is missing"))
        };
        let compiler = table.get("compiler").and_then(toml::Value::as_str);
        let counts = table.get("counts").and_then(toml::Value::as_table);
        Ok(Self {
            compiler: compiler.ok_or("compiler is missing")?.to_owned(),
            tolerance_percent: number("tolerance_percent")?,
            tolerance_percent_of_other_compilers: number("tolerance_percent_of_other_compilers")?,
            counts: counts.ok_or("counts are missing")?.clone(),
        })
    }

    /// Words for people whose compiler is another one than that of the counts.
    pub(crate) fn other_compiler(&self) -> Option<String> {
        let (kept, tolerance) = (&self.compiler, self.tolerance_percent_of_other_compilers);
        (kept != COMPILER).then(|| {
            format!(
                "The instruction counts are those of {kept}, and this is {COMPILER}: only what differs by more than \
                 {tolerance} % is refused."
            )
        })
    }

    /// Everything that is not as it was, in words; nothing when all is well. Fewer instructions are told too: not
    /// accepted, they would hide the next change for the worse.
    pub(crate) fn compare(&self, counted: &[Counted]) -> Vec<String> {
        let tolerance = match self.other_compiler() {
            Some(_) => self.tolerance_percent_of_other_compilers,
            None => self.tolerance_percent,
        };
        let differs = counted
            .iter()
            .filter_map(|it| self.difference(it, tolerance));
        let gone = self.counts.keys().filter(|name| {
            let counts = |it: &Counted| it.0 == name.as_str();
            !counted.iter().any(counts)
        });
        let gone =
            gone.map(|name| format!("{name}: has an accepted count, and is counted no more"));
        differs.chain(gone).collect()
    }

    fn difference(&self, (name, now): &Counted, tolerance: f64) -> Option<String> {
        let Some(was) = self.counts.get(*name).and_then(toml::Value::as_float) else {
            return Some(format!(
                "{name}: is {now:.1} instructions, and has no accepted count"
            ));
        };
        let percent = (now - was) / was * 100.0;
        let word = if *now > was { "more" } else { "fewer" };
        (percent.is_nan() || percent.abs() > tolerance).then(|| {
            format!(
                "{name}: was {was:.1} instructions, is {now:.1}: {:.1} % {word}, with a tolerance of {tolerance} %",
                percent.abs()
            )
        })
    }

    /// The file's text with these counts and this compiler.
    pub(crate) fn with(&self, counted: &[Counted]) -> String {
        let mut text = format!(
            "# Instructions that one call of each kind of work takes, as last accepted: `make instructions-accept` writes this \
             file.\n# See benches/README.md.\ncompiler = \"{COMPILER}\"\ntolerance_percent = {:?}\n\
             tolerance_percent_of_other_compilers = {:?}\n\n[counts]\n",
            self.tolerance_percent, self.tolerance_percent_of_other_compilers
        );
        for (name, count) in counted {
            // Cannot fail: it is a text.
            if writeln!(text, "\"{name}\" = {count:.1}").is_err() {
                break;
            }
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kept(compiler: &str) -> Kept {
        let text = format!(
            "compiler = \"{compiler}\"\ntolerance_percent = 3.0\ntolerance_percent_of_other_compilers = 20.0\n\
             [counts]\n\"a\" = 1000.0\n\"b\" = 10.0\n"
        );
        Kept::parse(&text).unwrap()
    }

    #[test]
    fn within_the_tolerance_nothing_is_said() {
        let none: [String; 0] = [];
        assert_eq!(kept(COMPILER).compare(&[("a", 1029.0), ("b", 9.75)]), none);
    }

    #[test]
    fn what_takes_more_is_told_with_its_name_both_counts_and_the_tolerance() {
        let found = kept(COMPILER).compare(&[("a", 1031.0), ("b", 10.0)]);
        let told = "a: was 1000.0 instructions, is 1031.0: 3.1 % more, with a tolerance of 3 %";
        assert_eq!(found, [told]);
        assert!(HOW_TO_ACCEPT.contains("make instructions-accept"));
    }

    #[test]
    fn what_takes_fewer_is_told_too() {
        let found = kept(COMPILER).compare(&[("a", 500.0), ("b", 10.0)]);
        assert!(found[0].contains("50.0 % fewer"), "{found:?}");
    }

    #[test]
    fn what_is_new_or_gone_is_told() {
        let found = kept(COMPILER).compare(&[("a", 1000.0), ("c", 1.0)]);
        let told = [
            "c: is 1.0 instructions, and has no accepted count",
            "b: has an accepted count, and is counted no more",
        ];
        assert_eq!(found, told);
    }

    #[test]
    fn another_compiler_is_told_and_judged_coarsely() {
        let kept = kept("rustc 1.0.0");
        assert!(
            kept.other_compiler()
                .is_some_and(|it| it.contains("rustc 1.0.0"))
        );
        assert!(kept.compare(&[("a", 1190.0), ("b", 10.0)]).is_empty());
        assert_eq!(kept.compare(&[("a", 1210.0), ("b", 10.0)]).len(), 1);
    }

    #[test]
    fn what_is_written_is_read_back() {
        let written = kept("rustc 1.0.0").with(&[("a", 7.04), ("b", 12.0)]);
        let read = Kept::parse(&written).unwrap();
        assert_eq!(read.other_compiler(), None);
        assert!(read.compare(&[("a", 7.0), ("b", 12.0)]).is_empty());
    }
}
