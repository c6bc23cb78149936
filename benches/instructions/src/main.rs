//! How many instructions the hot functions take, counted by callgrind, beside what was accepted (`counts.toml`).
//!
//! `instructions check` compares, `instructions accept` keeps what is counted now. `instructions run` does one kind of
//! work: what callgrind looks at.

mod count;
mod kept;
#[path = "../../src/records.rs"]
#[expect(
    dead_code,
    unreachable_pub,
    reason = "the benches have it as public, and use all of it"
)]
mod records;
mod work;

use kept::Kept;
use std::io::{self, Write as _};
use std::path::Path;
use std::process::ExitCode;
use work::KINDS;

/// Any error, with words that tell what went wrong.
type Outcome<T> = Result<T, Box<dyn std::error::Error + Send + Sync>>;

/// Where the accepted counts are.
const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/counts.toml");

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let outcome = match arguments.as_slice() {
        ["run", name] => run(name),
        ["check"] => check(Path::new(FILE)),
        ["check", file] => check(Path::new(file)),
        ["accept"] => accept(Path::new(FILE)),
        _ => Err("usage: instructions check [FILE] | accept | run KIND".into()),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let told = writeln!(io::stderr().lock(), "{error}");
            ExitCode::from(if told.is_ok() { 1 } else { 2 })
        }
    }
}

fn run(name: &str) -> Outcome<()> {
    let kind = KINDS.iter().find(|it| it.name == name);
    count::run(kind.ok_or("no such kind of work")?);
    Ok(())
}

fn check(file: &Path) -> Outcome<()> {
    let kept = Kept::read(file)?;
    let counted = count::all()?;
    let mut out = io::stdout().lock();
    for (name, count) in &counted {
        writeln!(out, "{count:12.1}  {name}")?;
    }
    if let Some(told) = kept.other_compiler() {
        writeln!(io::stderr().lock(), "{told}")?;
    }
    let found = kept.compare(&counted);
    if found.is_empty() {
        return Ok(());
    }
    Err(format!("{}\n{}", found.join("\n"), kept::HOW_TO_ACCEPT).into())
}

fn accept(file: &Path) -> Outcome<()> {
    let kept = Kept::read(file)?;
    let counted = count::all()?;
    Ok(std::fs::write(file, kept.with(&counted))?)
}
