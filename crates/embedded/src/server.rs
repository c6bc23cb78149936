//! What all servers have in common: starting until they answer, stopping, and doing either again.

use std::{
    io,
    path::Path,
    thread,
    time::{Duration, Instant},
};

use rustix::process::Signal;

use crate::{
    StartFailure,
    process::{LOOK, Launch, Log, Process},
};

/// How long an orderly end may take before the server is killed.
const GRACE: Duration = Duration::from_secs(10);

/// One server: how it is started, and its process while there is one.
#[derive(Debug)]
pub(crate) struct Server {
    name: &'static str,
    log: Log,
    stop_signal: Signal,
    process: Option<Process>,
}

impl Server {
    /// A server that does not run yet, whose log is in `folder`.
    pub(crate) fn new(name: &'static str, folder: &Path, stop_signal: Signal) -> Self {
        let log = Log::at(&folder.join(format!("{name}.log")));
        Self {
            name,
            log,
            stop_signal,
            process: None,
        }
    }

    /// Starts it and waits until `answers` succeeds or the process has ended, `patience` at most.
    pub(crate) fn start(
        &mut self,
        launch: &Launch,
        patience: Duration,
        answers: impl Fn() -> io::Result<()>,
    ) -> Result<(), StartFailure> {
        let began = Instant::now();
        let mut process = Process::spawn(launch, &self.log)?;
        loop {
            let answer = answers();
            // Asked after the answer: it may have come from somebody else, who has the port in our place.
            if let Some(status) = process
                .ended()
                .map_err(StartFailure::about(&launch.program))?
            {
                return Err(StartFailure::Died {
                    server: self.name,
                    status,
                    log: self.log.tail(),
                });
            }
            match answer {
                Ok(()) => break,
                Err(error) if began.elapsed() > patience => {
                    tracing::debug!(server = self.name, %error, "gave up waiting");
                    process.kill();
                    return Err(StartFailure::Silent {
                        server: self.name,
                        patience,
                        log: self.log.tail(),
                    });
                }
                Err(_) => thread::sleep(LOOK),
            }
        }
        tracing::debug!(server = self.name, pid = process.id(), "answers");
        self.process = Some(process);
        Ok(())
    }

    /// The process id while it runs.
    pub(crate) fn id(&self) -> Option<u32> {
        self.process.as_ref().map(Process::id)
    }

    /// Ends it in order, or kills it when that takes longer than ten seconds. Nothing happens when it does
    /// not run.
    pub(crate) fn stop(&mut self) {
        let Some(mut process) = self.process.take() else {
            return;
        };
        if !process.end(self.stop_signal, GRACE) {
            tracing::warn!(server = self.name, "did not end in time and is killed");
            process.kill();
        }
    }

    /// Kills it with SIGKILL, as a power cut would.
    pub(crate) fn kill(&mut self) {
        if let Some(mut process) = self.process.take() {
            process.kill();
        }
    }

    /// Stops its time (SIGSTOP): connections stay open, nothing answers.
    pub(crate) fn freeze(&self) {
        if let Some(process) = &self.process {
            process.freeze();
        }
    }

    /// Lets it go on after [`Self::freeze`].
    pub(crate) fn thaw(&self) {
        if let Some(process) = &self.process {
            process.thaw();
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stop();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::process::User;

    fn shell(script: &str) -> Launch {
        Launch {
            program: "/bin/sh".into(),
            arguments: vec!["-c".to_owned(), script.to_owned()],
            user: User::Same,
            on_parent_death: "KILL",
        }
    }

    fn silence() -> io::Result<()> {
        Err(io::Error::other("silent"))
    }

    #[test]
    fn a_silent_server_is_killed_and_its_log_told() {
        let folder = tempfile::tempdir().unwrap();
        let mut server = Server::new("sleeper", folder.path(), Signal::TERM);
        let start = server.start(
            &shell("echo first; echo asleep >&2; exec sleep 60"),
            Duration::from_millis(200),
            silence,
        );
        assert_eq!(
            start.unwrap_err().to_string(),
            "sleeper did not answer within 0 s; its last lines:\nfirst\nasleep"
        );
        assert_eq!(server.id(), None);
    }

    #[test]
    fn a_server_that_ends_is_not_waited_for() {
        let folder = tempfile::tempdir().unwrap();
        let mut server = Server::new("mayfly", folder.path(), Signal::TERM);
        let start = server.start(&shell("echo no; exit 3"), Duration::from_secs(60), silence);
        let failure = start.unwrap_err().to_string();
        assert_eq!(
            failure,
            "mayfly ended before it answered (exit status: 3); its last lines:\nno"
        );
    }
}
