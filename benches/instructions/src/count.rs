//! Counting: the same program under callgrind twice, once with twice as many passes. What the second takes longer is the
//! passes alone; start-up, preparation and the first pass are in both.

use crate::Outcome;
use crate::work::{ITEMS, KINDS, Kind};
use std::io::ErrorKind;
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Passes of the shorter run.
const PASSES: u32 = 16;
/// Programs at once.
const LANES: usize = 2;

/// A kind of work by its name, and the instructions that one of its items takes.
pub(crate) type Counted = (&'static str, f64);

/// Counts every kind of work, in their order.
pub(crate) fn all() -> Outcome<Vec<Counted>> {
    let next = AtomicUsize::new(0);
    let counted = Mutex::new(Vec::new());
    let lane = || -> Outcome<()> {
        while let Some(kind) = KINDS.get(next.fetch_add(1, Ordering::Relaxed)) {
            let count = one(kind)?;
            let mut counted = counted.lock().map_err(|_| "another count has failed")?;
            counted.push((kind.name, count));
        }
        Ok(())
    };
    std::thread::scope(|scope| {
        let lanes: Vec<_> = (0..LANES).map(|_| scope.spawn(lane)).collect();
        lanes
            .into_iter()
            .try_for_each(|it| it.join().map_err(|_| "a count has failed")?)
    })?;
    let counted = counted.into_inner().map_err(|_| "a count has failed")?;
    let found = |kind: &Kind| counted.iter().find(|it| it.0 == kind.name).copied();
    Ok(KINDS.iter().filter_map(found).collect())
}

/// The instructions that an item of this kind takes.
fn one(kind: &Kind) -> Outcome<f64> {
    let (fewer, more) = (
        instructions(kind.name, PASSES)?,
        instructions(kind.name, 2 * PASSES)?,
    );
    let passes = more.checked_sub(fewer).ok_or("more passes took less")?;
    #[expect(clippy::cast_precision_loss, reason = "some millions")]
    let passes = passes as f64;
    Ok(passes / f64::from(PASSES * ITEMS))
}

/// The instructions of the whole program.
fn instructions(name: &str, passes: u32) -> Outcome<u64> {
    let program = std::env::current_exe()?;
    let output = Command::new("valgrind")
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null", "--"])
        .arg(program)
        .args(["run", name, &passes.to_string()])
        .output()
        .map_err(|error| {
            let missing = error.kind() == ErrorKind::NotFound;
            let advice = if missing {
                ": `make servers` installs it"
            } else {
                ""
            };
            format!("valgrind: {error}{advice}")
        })?;
    let said = String::from_utf8_lossy(&output.stderr);
    let collected = said
        .lines()
        .find_map(|line| line.split_once("Collected : "))
        .and_then(|(_, number)| number.trim().parse().ok());
    match collected {
        Some(number) if output.status.success() => Ok(number),
        Some(_) | None => Err(format!("{name} under valgrind: {}: {said}", output.status).into()),
    }
}
