//! One server process: started by the thread that never ends, reached by signals, read by its log.

mod family;
mod log;
mod spawner;

use std::{
    io,
    path::PathBuf,
    process::{Child, Command, ExitStatus, Stdio},
    thread,
    time::{Duration, Instant},
};

use rustix::process::{Pid, Signal};

pub(crate) use self::{family::Family, log::Log};
use crate::{StartFailure, installed};

/// How often a process is looked at while something is waited for.
pub(crate) const LOOK: Duration = Duration::from_millis(10);

/// Which user a program runs as.
#[derive(Clone, Debug)]
pub(crate) enum User {
    /// Who we are.
    Same,
    /// Another one; we are root.
    Other {
        /// As in `/etc/passwd`.
        name: String,
        /// Its number.
        uid: u32,
        /// The number of its group.
        gid: u32,
    },
}

/// What to run, and how it is to end.
#[derive(Debug)]
pub(crate) struct Launch {
    /// The program's path.
    pub(crate) program: PathBuf,
    /// Its arguments.
    pub(crate) arguments: Vec<String>,
    /// Who it runs as.
    pub(crate) user: User,
    /// What the kernel sends when this process ends, however it ends.
    pub(crate) on_parent_death: &'static str,
}

impl Launch {
    /// Builds the command: `setpriv` changes the user and then asks for the parent-death signal, in this
    /// order, for a change of user clears it. The group is a new one, so that Ctrl-C reaches us and not it;
    /// the folder is `/`, which every user can be in; the environment is empty, for servers read theirs.
    pub(crate) fn command(&self) -> Result<Command, StartFailure> {
        use std::os::unix::process::CommandExt;

        let mut command = Command::new(installed::program("setpriv")?);
        command.args(["--pdeathsig", self.on_parent_death]);
        if let User::Other { uid, gid, .. } = &self.user {
            command
                .arg(format!("--reuid={uid}"))
                .arg(format!("--regid={gid}"))
                .arg("--clear-groups");
        }
        command.arg("--").arg(&self.program).args(&self.arguments);
        command
            .env_clear()
            .env("PATH", "/usr/local/bin:/usr/bin:/bin");
        command
            .current_dir("/")
            .process_group(0)
            .stdin(Stdio::null());
        Ok(command)
    }
}

/// Runs a program to its end; an error tells its last lines.
pub(crate) fn run(name: &'static str, launch: &Launch) -> Result<(), StartFailure> {
    let mut command = launch.command()?;
    let failed = |said: String| StartFailure::Preparation {
        program: name,
        said,
    };
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let output = spawner::spawn(command)
        .and_then(Child::wait_with_output)
        .map_err(|error| failed(error.to_string()))?;
    if output.status.success() {
        return Ok(());
    }
    let said = [output.stdout, output.stderr].concat();
    Err(failed(log::last_lines(&String::from_utf8_lossy(&said))))
}

/// A server that was started and whose end has not been seen.
#[derive(Debug)]
pub(crate) struct Process {
    child: Child,
}

impl Process {
    /// Starts a server that writes to `log`.
    pub(crate) fn spawn(launch: &Launch, log: &Log) -> Result<Self, StartFailure> {
        let mut command = launch.command()?;
        let (output, errors) = log.handles()?;
        command.stdout(output).stderr(errors);
        let child = spawner::spawn(command).map_err(StartFailure::about(&launch.program))?;
        Ok(Self { child })
    }

    /// Tells how it ended, or nothing while it runs.
    pub(crate) fn ended(&mut self) -> io::Result<Option<ExitStatus>> {
        self.child.try_wait()
    }

    /// Its process id.
    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// Asks for an orderly end by `signal` and waits for it; gives false when `grace` was not enough.
    pub(crate) fn end(&mut self, signal: Signal, grace: Duration) -> bool {
        let family = Family::of(self.pid());
        family.send(Signal::CONT);
        Family::only(self.pid()).send(signal);
        let start = Instant::now();
        while start.elapsed() < grace {
            match self.child.try_wait() {
                Ok(None) => thread::sleep(LOOK),
                Ok(Some(_)) => return true,
                Err(_) => break,
            }
        }
        false
    }

    /// Kills it with every process it made, at once and whatever state they are in.
    pub(crate) fn kill(&mut self) {
        // Stopped first, so that it makes no more while the others are looked for.
        Family::only(self.pid()).send(Signal::STOP);
        Family::of(self.pid()).send(Signal::KILL);
        if let Err(error) = self.child.wait() {
            tracing::warn!(%error, "a killed server could not be waited for");
        }
    }

    /// Stops its time, and that of every process it made.
    pub(crate) fn freeze(&self) {
        Family::only(self.pid()).send(Signal::STOP);
        Family::of(self.pid()).send(Signal::STOP);
    }

    /// Lets it go on after [`Self::freeze`].
    pub(crate) fn thaw(&self) {
        Family::of(self.pid()).send(Signal::CONT);
    }

    fn pid(&self) -> Pid {
        Pid::from_child(&self.child)
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    #[test]
    fn who_does_not_end_when_asked_is_killed_with_its_children() {
        let folder = tempfile::tempdir().unwrap();
        let ready = folder.path().join("ready");
        let script = format!(
            "trap '' TERM; setsid sleep 60 & echo $! >{}; wait",
            ready.display()
        );
        let launch = Launch {
            program: "/bin/sh".into(),
            arguments: vec!["-c".to_owned(), script],
            user: User::Same,
            on_parent_death: "KILL",
        };
        let mut process = Process::spawn(&launch, &Log::at(&folder.path().join("log"))).unwrap();
        let child = loop {
            let text = std::fs::read_to_string(&ready).unwrap_or_default();
            if let Ok(pid) = text.trim().parse::<u32>() {
                break pid;
            }
            thread::sleep(LOOK);
        };
        assert!(!process.end(Signal::TERM, Duration::from_millis(200)));
        process.kill();
        assert!(!Path::new(&format!("/proc/{}", process.id())).exists());
        let command = || std::fs::read(format!("/proc/{child}/cmdline")).unwrap_or_default();
        while !command().is_empty() {
            thread::sleep(LOOK);
        }
    }
}
