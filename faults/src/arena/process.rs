//! One process of ours, killed and started again many times.

use super::{Release, name};
use crate::fault::Role;
use crate::{Outcome, clocks};
use std::collections::BTreeMap;
use std::os::unix::process::ExitStatusExt as _;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};
use testkit::Running;

/// How long a process may take until it listens to signals.
const JUST_STARTED: Duration = Duration::from_secs(2);

/// A slot that a process has, with or without one in it.
pub(crate) struct Process {
    release: Arc<Release>,
    role: Role,
    settings: BTreeMap<String, String>,
    logs: PathBuf,
    clock: PathBuf,
    starts: u64,
    begun: Instant,
    running: Option<Running>,
    peak_memory_mib: u64,
}

impl Process {
    pub(super) fn start(
        release: Arc<Release>,
        role: Role,
        settings: BTreeMap<String, String>,
        logs: PathBuf,
        clock: PathBuf,
    ) -> Outcome<Self> {
        let mut process = Self {
            release,
            role,
            settings,
            logs,
            clock,
            starts: 0,
            begun: Instant::now(),
            running: None,
            peak_memory_mib: 0,
        };
        process.begin()?;
        Ok(process)
    }

    /// Starts it, with its clock right.
    pub(crate) fn begin(&mut self) -> Outcome<()> {
        clocks::step(&self.clock, 0)?;
        self.starts += 1;
        self.begun = Instant::now();
        let command = match self.role {
            Role::Bridge(_) => "bridge",
            Role::Aggregator(_) => "aggregator",
            Role::Control => "control",
            Role::Api => "api",
        };
        let log = self.logs.join(format!("{}.log", self.starts));
        let port = embedded::free_port()?;
        self.running = Some(Running::spawn(
            self.release.current(),
            &[command],
            &self.settings,
            log,
            port,
        ));
        Ok(())
    }

    /// Ends it at once.
    pub(crate) fn kill(&mut self) {
        self.note_memory();
        if let Some(mut running) = self.running.take() {
            running.kill();
        }
    }

    /// Asks it to stop; it must end in time and with success.
    pub(crate) fn leave(&mut self) -> Outcome<()> {
        self.note_memory();
        let Some(mut running) = self.running.take() else {
            return Ok(());
        };
        let status = running.stop();
        // A process that has only just been started may not have asked for the signal yet.
        let too_early = status.signal().is_some() && self.begun.elapsed() < JUST_STARTED;
        if status.success() || too_early {
            Ok(())
        } else {
            Err(format!("{} ended with {status} when told to stop", name(self.role)).into())
        }
    }

    pub(crate) fn signal(&self, signal: &str) {
        if let Some(running) = &self.running {
            running.signal(signal);
        }
    }

    pub(crate) fn step_clock(&self, hours: i64) -> Outcome<()> {
        clocks::step(&self.clock, hours)
    }

    pub(crate) fn running(&self) -> Option<&Running> {
        self.running.as_ref()
    }

    /// How it has ended by itself, which it never may, and where its last words are.
    pub(crate) fn ended(&mut self) -> Option<String> {
        let status = self.running.as_mut()?.ended()?;
        let log = self.logs.join(format!("{}.log", self.starts));
        Some(format!("{status}; {}", log.display()))
    }

    /// The most that any process of this slot has had.
    pub(crate) fn peak_memory_mib(&mut self) -> u64 {
        self.note_memory();
        self.peak_memory_mib
    }

    fn note_memory(&mut self) {
        if self.ended().is_none()
            && let Some(running) = &self.running
        {
            self.peak_memory_mib = self.peak_memory_mib.max(running.peak_memory_mib());
        }
    }
}
