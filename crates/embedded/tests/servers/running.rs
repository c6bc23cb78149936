//! Which processes there are.

use std::{
    path::Path,
    thread,
    time::{Duration, Instant},
};

/// Waits until `condition` holds, ten seconds at most.
pub(crate) fn eventually(what: &str, condition: impl Fn() -> bool) {
    let start = Instant::now();
    while !condition() {
        assert!(
            start.elapsed() < Duration::from_secs(10),
            "not so after ten seconds: {what}"
        );
        thread::sleep(Duration::from_millis(20));
    }
}

/// Whether a process of that id is there, be it as a zombie.
pub(crate) fn exists(pid: u32) -> bool {
    Path::new(&format!("/proc/{pid}")).exists()
}

/// How many processes have `text` in their command line or work in a folder of that name.
pub(crate) fn with(text: &str) -> usize {
    std::fs::read_dir("/proc")
        .unwrap()
        .flatten()
        .filter(|entry| {
            let line = std::fs::read(entry.path().join("cmdline")).unwrap_or_default();
            let folder = std::fs::read_link(entry.path().join("cwd")).unwrap_or_default();
            String::from_utf8_lossy(&line).contains(text) || folder.to_string_lossy().contains(text)
        })
        .count()
}
