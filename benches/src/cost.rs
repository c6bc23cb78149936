//! What processes cost, as the kernel counts it.

use crate::Outcome;
use serde::Serialize;
use std::collections::HashMap;
use std::fs;

/// The unit of processor time in `/proc`: a hundredth of a second on every Linux that we run on.
const TICKS_PER_S: f64 = 100.0;

/// The machine and the processes on it that are ours.
#[derive(Clone, Debug)]
pub struct Machine {
    processes: Vec<(&'static str, u32)>,
}

/// What was used so far.
#[derive(Clone, Debug)]
pub struct Spent {
    by_process: Vec<(&'static str, Used)>,
    machine_cpu_s: f64,
}

/// By one process with all that it has made.
#[derive(Clone, Copy, Debug, Default)]
struct Used {
    cpu_s: f64,
    peak_mib: f64,
}

/// What one process has cost in a run.
#[derive(Debug, Serialize)]
pub struct Cost {
    /// Its name in the report.
    pub process: &'static str,
    /// Processor time, seconds.
    pub cpu_s: f64,
    /// The same for a million of what was done in the run.
    pub cpu_s_per_million: f64,
    /// The most memory that it has had up to the end of the run, in MiB; what its processes share counts once.
    pub peak_mib: f64,
}

/// What the machine is.
#[derive(Debug, Serialize)]
pub struct Description {
    /// Processors that this process may use.
    pub cores: usize,
    /// Their name.
    pub processor: String,
    /// Memory, MiB.
    pub memory_mib: f64,
}

impl Machine {
    /// Watches these processes, by name and number, and this one, which is the load.
    #[must_use]
    pub fn new(processes: Vec<(&'static str, Option<u32>)>) -> Self {
        let known = |(name, id): (&'static str, Option<u32>)| Some((name, id?));
        Self {
            processes: processes.into_iter().filter_map(known).collect(),
        }
    }

    /// Reads all clocks. A server counts with all the processes that it has made.
    ///
    /// # Errors
    /// When the kernel does not tell.
    pub fn spent(&self) -> Outcome<Spent> {
        let times = processor_times()?;
        let mut by_process: Vec<_> = self
            .processes
            .iter()
            .map(|(name, id)| (*name, used(&family(*id, &times), &times)))
            .collect();
        // Only itself: everything else is its child.
        let own = std::process::id();
        let mut load = used(&[own], &times);
        load.cpu_s = times.get(&own).map_or(0.0, |it| it.own_s);
        by_process.push(("load", load));
        Ok(Spent {
            by_process,
            machine_cpu_s: machine_s()?,
        })
    }

    /// What the machine is.
    #[must_use]
    pub fn description(&self) -> Description {
        let field = |file: &str, name: &str| {
            let text = fs::read_to_string(file).unwrap_or_default();
            let line = text.lines().find(|line| line.starts_with(name));
            let value = line.and_then(|line| line.split_once(':'));
            value.map_or_else(String::new, |(_, value)| value.trim().to_owned())
        };
        let kib = field("/proc/meminfo", "MemTotal");
        let kib = kib.trim_end_matches(" kB").parse::<f64>();
        Description {
            cores: std::thread::available_parallelism().map_or(1, usize::from),
            processor: field("/proc/cpuinfo", "model name"),
            memory_mib: kib.unwrap_or_default() / 1024.0,
        }
    }
}

impl Spent {
    /// What each process has cost since `before`, in which so many records were handled or actions taken, and
    /// what the rest of the machine has used.
    #[must_use]
    pub fn since(&self, before: &Self, done: u64) -> (Vec<Cost>, f64) {
        let pairs = self.by_process.iter().zip(&before.by_process);
        let costs: Vec<Cost> = pairs
            .map(|((process, after), (_, before))| Cost {
                process,
                cpu_s: after.cpu_s - before.cpu_s,
                cpu_s_per_million: (after.cpu_s - before.cpu_s) * 1e6 / done.max(1) as f64,
                peak_mib: after.peak_mib,
            })
            .collect();
        let ours: f64 = costs.iter().map(|cost| cost.cpu_s).sum();
        let others = (self.machine_cpu_s - before.machine_cpu_s - ours).max(0.0);
        (costs, others)
    }
}

/// The most memory that a process has ever had, in megabytes (10^6).
///
/// # Errors
/// When it has ended.
pub fn peak_memory_mb(id: u32) -> Outcome<f64> {
    let peak = memory_kib(id, "VmHWM:").ok_or("a process without VmHWM has ended")?;
    Ok(peak * 1024.0 / 1e6)
}

/// A process and all that it has made, and so on.
fn family(first: u32, times: &HashMap<u32, Times>) -> Vec<u32> {
    let mut members = vec![first];
    let mut next = 0;
    while let Some(parent) = members.get(next).copied() {
        let children = times.iter().filter(|(_, it)| it.parent == parent);
        members.extend(children.map(|(id, _)| *id));
        next += 1;
    }
    members
}

/// What these processes have used, with those of their children that have ended and were waited for.
fn used(members: &[u32], times: &HashMap<u32, Times>) -> Used {
    let own = members.iter().filter_map(|id| times.get(id));
    let mut peak_kib = 0.0;
    let mut shared_kib = 0.0_f64;
    for id in members {
        let shared = memory_kib(*id, "RssShmem:").unwrap_or_default();
        peak_kib += memory_kib(*id, "VmHWM:").unwrap_or_default() - shared;
        shared_kib = shared_kib.max(shared);
    }
    Used {
        cpu_s: own.map(|it| it.own_s + it.ended_children_s).sum(),
        peak_mib: (peak_kib + shared_kib).max(0.0) / 1024.0,
    }
}

/// One of the lines in which the kernel tells a process's memory, in KiB.
fn memory_kib(id: u32, field: &str) -> Option<f64> {
    let status = fs::read_to_string(format!("/proc/{id}/status")).ok()?;
    let line = status.lines().find_map(|it| it.strip_prefix(field))?;
    line.split_whitespace().next()?.parse().ok()
}

struct Times {
    parent: u32,
    own_s: f64,
    ended_children_s: f64,
}

/// Every process of the machine.
fn processor_times() -> Outcome<HashMap<u32, Times>> {
    let entries = fs::read_dir("/proc")?.flatten();
    let times = entries.filter_map(|entry| {
        let id = entry.file_name().to_str()?.parse().ok()?;
        // A process may end between its listing and its reading.
        let stat = fs::read_to_string(entry.path().join("stat")).ok()?;
        Some((id, times(&stat)?))
    });
    Ok(times.collect())
}

/// The fields are counted from behind the name, which may hold anything: `state ppid …`.
fn times(stat: &str) -> Option<Times> {
    let (_, fields) = stat.rsplit_once(") ")?;
    let fields: Vec<&str> = fields.split(' ').collect();
    let seconds = |index: usize| Some(fields.get(index)?.parse::<f64>().ok()? / TICKS_PER_S);
    Some(Times {
        parent: fields.get(1)?.parse().ok()?,
        own_s: seconds(11)? + seconds(12)?,
        ended_children_s: seconds(13)? + seconds(14)?,
    })
}

/// Processor time of the whole machine: all but idle, waiting for the disk, and stolen.
fn machine_s() -> Outcome<f64> {
    let stat = fs::read_to_string("/proc/stat")?;
    let first = stat.lines().next().unwrap_or_default();
    let ticks: Vec<f64> = first
        .split_whitespace()
        .skip(1)
        .filter_map(|it| it.parse().ok())
        .collect();
    let busy = ticks.iter().enumerate();
    let busy = busy.filter(|(index, _)| [0, 1, 2, 5, 6].contains(index));
    Ok(busy.map(|(_, ticks)| ticks).sum::<f64>() / TICKS_PER_S)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_with_parentheses_and_spaces_does_not_shift_the_fields() {
        let stat = "7 (a) b) S 3 7 7 0 -1 4194560 1 2 3 4 150 50 20 5 20 0 1 0 100";
        let times = times(stat).unwrap();
        assert_eq!(times.parent, 3);
        assert_eq!(times.own_s, 2.0);
        assert_eq!(times.ended_children_s, 0.25);
    }
}
