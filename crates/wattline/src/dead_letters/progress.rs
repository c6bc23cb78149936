//! How far a long command is: one line on a terminal, written over again and again.

use std::io::{self, IsTerminal as _, Write as _};

/// Columns of the bar itself.
const WIDTH: usize = 30;

/// A bar on standard error; nothing where that is no terminal.
pub(super) struct Progress {
    total: u64,
    done: u64,
    is_shown: bool,
}

impl Progress {
    /// A bar that is full after `total`.
    pub(super) fn new(total: u64) -> Self {
        Self {
            total,
            done: 0,
            is_shown: io::stderr().is_terminal(),
        }
    }

    /// More is done.
    pub(super) fn add(&mut self, done: usize) {
        self.done += done as u64;
        if self.is_shown {
            let bar = bar(self.done, self.total);
            write(&format!("\r{bar}"));
        }
    }
}

impl Drop for Progress {
    /// What follows stands on a line of its own.
    fn drop(&mut self) {
        if self.is_shown && self.done > 0 {
            write("\n");
        }
    }
}

/// What came meanwhile is beyond the total: the bar is full then.
fn bar(done: u64, total: u64) -> String {
    let total = total.max(done).max(1);
    let full = usize::try_from(u128::from(done) * WIDTH as u128 / u128::from(total));
    let full = full.unwrap_or(WIDTH);
    let (full, open) = ("#".repeat(full), ".".repeat(WIDTH - full));
    format!("[{full}{open}] {done} of {total}")
}

fn write(text: &str) {
    let mut out = io::stderr().lock();
    // Nobody looks any more: the work goes on.
    if out
        .write_all(text.as_bytes())
        .and_then(|()| out.flush())
        .is_err()
    {}
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bar_grows_with_what_is_done_and_is_never_longer_than_itself() {
        let check = |done, total, hashes: usize| {
            let bar = bar(done, total);
            assert_eq!(bar.matches('#').count(), hashes, "{bar}");
            assert_eq!(bar.find(']'), Some(WIDTH + 1), "{bar}");
        };
        check(0, 0, 0);
        check(0, 10, 0);
        check(5, 10, 15);
        check(10, 10, 30);
        check(11, 10, 30);
    }
}
