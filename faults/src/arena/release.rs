//! Which `wattline` is started: one, or an old one until the upgrade.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

/// The binaries of a run.
#[derive(Debug)]
pub struct Release {
    new: PathBuf,
    old: Option<PathBuf>,
    is_old: AtomicBool,
}

impl Release {
    /// The binary to strike; with an `old` one everything begins with that, and is upgraded process by process.
    #[must_use]
    pub fn new(new: PathBuf, old: Option<PathBuf>) -> Self {
        Self {
            is_old: AtomicBool::new(old.is_some()),
            new,
            old,
        }
    }

    /// What is started now.
    pub(crate) fn current(&self) -> &Path {
        match &self.old {
            Some(old) if self.is_old() => old,
            Some(_) | None => &self.new,
        }
    }

    pub(crate) fn is_old(&self) -> bool {
        self.is_old.load(Ordering::SeqCst)
    }

    pub(super) fn upgrade(&self) {
        self.is_old.store(false, Ordering::SeqCst);
    }
}
