//! Clocks that can be stepped: libfaketime between a process and its time of day.

use crate::Outcome;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Where Debian and Ubuntu put it, below the folder that their architecture has.
const LIBRARY: &str = "faketime/libfaketime.so.1";
/// How long a process may go on with the time that it had read.
const CACHE_S: &str = "1";

/// The library, if this machine has it.
pub(crate) fn library() -> Option<PathBuf> {
    let folders = std::fs::read_dir("/usr/lib").ok()?;
    let mut found = folders.flatten().map(|it| it.path().join(LIBRARY));
    found.find(|it| it.exists())
}

/// What a process is told so that its clock follows `file`. Only the time of day: a real clock that is stepped leaves the
/// monotonic one alone.
pub(crate) fn settings(library: &Path, file: &Path) -> BTreeMap<String, String> {
    let setting = |key: &str, value: String| (key.to_owned(), value);
    BTreeMap::from([
        setting("LD_PRELOAD", library.display().to_string()),
        setting("FAKETIME_TIMESTAMP_FILE", file.display().to_string()),
        setting("FAKETIME_CACHE_DURATION", CACHE_S.to_owned()),
        setting("FAKETIME_DONT_FAKE_MONOTONIC", "1".to_owned()),
        setting("DONT_FAKE_MONOTONIC", "1".to_owned()),
    ])
}

/// Steps the clock that follows `file`.
pub(crate) fn step(file: &Path, hours: i64) -> Outcome<()> {
    Ok(std::fs::write(file, format!("{hours:+}h\n"))?)
}
