//! A process and those it made.

use std::fs;

use rustix::process::{Pid, Signal, kill_process};

/// A process and all below it. A signal to the process group would miss some: PostgreSQL puts each of its
/// processes into a session of its own.
pub(crate) struct Family(Vec<Pid>);

impl Family {
    /// Looks up the process and all below it, as they are now.
    pub(crate) fn of(ancestor: Pid) -> Self {
        let parents = parents();
        let mut members = vec![ancestor];
        let mut next = 0;
        while let Some(parent) = members.get(next).copied() {
            members.extend(
                parents
                    .iter()
                    .filter(|(_, above)| *above == parent.as_raw_nonzero().get())
                    .filter_map(|(pid, _)| Pid::from_raw(*pid)),
            );
            next += 1;
        }
        Self(members)
    }

    /// The process alone.
    pub(crate) fn only(process: Pid) -> Self {
        Self(vec![process])
    }

    /// Sends a signal to each; one that has ended meanwhile needs none.
    pub(crate) fn send(&self, signal: Signal) {
        for member in &self.0 {
            if let Err(error) = kill_process(*member, signal) {
                tracing::debug!(%error, ?signal, "a process did not take a signal");
            }
        }
    }
}

/// Every process of the machine with the one that made it.
fn parents() -> Vec<(i32, i32)> {
    let Ok(entries) = fs::read_dir("/proc") else {
        return Vec::new();
    };
    entries
        .flatten()
        .filter_map(|entry| {
            let pid = entry.file_name().to_str()?.parse().ok()?;
            let stat = fs::read_to_string(entry.path().join("stat")).ok()?;
            // The name in parentheses may hold anything; the state and the parent follow it.
            let (_, after_name) = stat.rsplit_once(") ")?;
            let parent = after_name.split(' ').nth(1)?.parse().ok()?;
            Some((pid, parent))
        })
        .collect()
}
