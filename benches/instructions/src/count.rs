//! Counting: this program under callgrind, which counts only inside of [`counted_by_callgrind`]: neither start-up, nor
//! preparation, nor the first pass.

use crate::Outcome;
use crate::work::{ITEMS, KINDS, Kind, Pass};
use std::io::ErrorKind;
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Passes that are counted.
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

/// Does one kind of work as often as it is counted, and once before, when what is made once is made.
pub(crate) fn run(kind: &Kind) {
    let mut pass = (kind.prepare)();
    pass();
    counted_by_callgrind(&mut pass);
}

/// Counting begins and ends with this function, which callgrind knows by its name; nothing in it may have it in its own.
#[inline(never)]
fn counted_by_callgrind(pass: &mut Pass) {
    for _ in 0..PASSES {
        pass();
    }
}

/// The instructions that an item of this kind takes.
fn one(kind: &Kind) -> Outcome<f64> {
    let output = Command::new("valgrind")
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
        .args(["--toggle-collect=*counted_by_callgrind*", "--"])
        .arg(std::env::current_exe()?)
        .args(["run", kind.name])
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
        .and_then(|(_, number)| number.trim().parse::<f64>().ok());
    match collected {
        Some(number) if number > 0.0 && output.status.success() => {
            Ok(number / f64::from(PASSES * ITEMS))
        }
        Some(_) | None => {
            let (name, status) = (kind.name, output.status);
            Err(format!("{name} under valgrind: {status}: {said}").into())
        }
    }
}
