//! A `wattline` process of a test.

use crate::eventually;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// A process that runs a role; killed when dropped, its log shown when the test is failing.
pub struct Running {
    child: Child,
    log: PathBuf,
    operations_port: u16,
}

impl Running {
    /// Starts `binary` with these arguments and environment variables beside its own; it writes to the file `log` and
    /// shows its metrics and readiness on `operations_port`.
    #[must_use]
    pub fn spawn(
        binary: &Path,
        arguments: &[&str],
        settings: &BTreeMap<String, String>,
        log: PathBuf,
        operations_port: u16,
    ) -> Self {
        let child = Command::new(binary)
            .args(arguments)
            .envs(settings)
            .env(
                "WATTLINE_OPS_LISTEN",
                format!("127.0.0.1:{operations_port}"),
            )
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(File::create(&log).unwrap())
            .spawn()
            .unwrap();
        Self {
            child,
            log,
            operations_port,
        }
    }

    /// Waits until the process says that it can do its job.
    pub async fn ready(&self) -> &Self {
        eventually(async || {
            self.readiness().await.and_then(|(status, body)| {
                if status == 200 {
                    Ok(())
                } else {
                    Err(body.to_string())
                }
            })
        })
        .await;
        self
    }

    /// Status and body of `/health/ready`.
    ///
    /// # Errors
    /// When the process does not answer.
    pub async fn readiness(&self) -> Result<(u16, Value), String> {
        let answer = self.operations("/health/ready").await?;
        let status = answer.status().as_u16();
        let body = answer.json().await.map_err(|error| error.to_string())?;
        Ok((status, body))
    }

    /// The value of one series of `/metrics`, named as it stands there.
    pub async fn metric(&self, series: &str) -> f64 {
        let all = self.metrics().await;
        *all.get(series)
            .unwrap_or_else(|| panic!("no series {series} in {all:?}"))
    }

    /// All series of one scrape; waits for a process that has only just been started.
    pub async fn metrics(&self) -> BTreeMap<String, f64> {
        eventually(async || self.scrape().await).await
    }

    /// All series of one scrape.
    ///
    /// # Errors
    /// When the process does not answer.
    pub async fn scrape(&self) -> Result<BTreeMap<String, f64>, String> {
        let answer = self.operations("/metrics").await?;
        let text = answer.text().await.map_err(|error| error.to_string())?;
        let series = text.lines().filter(|line| !line.starts_with('#'));
        Ok(series
            .filter_map(|line| {
                let (series, value) = line.rsplit_once(' ')?;
                Some((series.to_owned(), value.parse().ok()?))
            })
            .collect())
    }

    async fn operations(&self, path: &str) -> Result<reqwest::Response, String> {
        reqwest::get(format!("http://127.0.0.1:{}{path}", self.operations_port))
            .await
            .map_err(|error| error.to_string())
    }

    /// Where its metrics and its health are, on loopback.
    #[must_use]
    pub const fn operations_port(&self) -> u16 {
        self.operations_port
    }

    /// Sends a signal by name, such as `TERM` or `STOP`.
    pub fn signal(&self, name: &str) {
        send_signal(self.child.id(), name);
    }

    /// Kills the process at once, wherever it is.
    pub fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Asks the process to stop and waits for its end.
    pub fn stop(&mut self) -> ExitStatus {
        self.signal("TERM");
        self.wait(Duration::from_secs(15))
    }

    /// How it has ended, if it has ended by itself.
    pub fn ended(&mut self) -> Option<ExitStatus> {
        self.child.try_wait().unwrap()
    }

    /// Waits for the process to end by itself.
    pub fn wait(&mut self, patience: Duration) -> ExitStatus {
        let begun = Instant::now();
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status;
            }
            assert!(
                begun.elapsed() < patience,
                "still running after {patience:?}"
            );
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// What the process has logged so far.
    #[must_use]
    pub fn log(&self) -> String {
        std::fs::read_to_string(&self.log).unwrap()
    }

    /// Peak resident memory so far, in MiB.
    #[must_use]
    pub fn peak_memory_mib(&self) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap();
        let line = status
            .lines()
            .find(|line| line.starts_with("VmHWM:"))
            .unwrap();
        line.split_whitespace()
            .nth(1)
            .unwrap()
            .parse::<u64>()
            .unwrap()
            / 1024
    }

    /// Resident memory now, in KiB.
    #[must_use]
    pub fn memory_kib(&self) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap();
        let line = status.lines().find(|line| line.starts_with("VmRSS:"));
        let number = line.unwrap().split_whitespace().nth(1);
        number.unwrap().parse().unwrap()
    }

    /// Files and connections that it has open.
    #[must_use]
    pub fn open_files(&self) -> usize {
        let folder = format!("/proc/{}/fd", self.child.id());
        std::fs::read_dir(folder).unwrap().count()
    }

    /// The text of `/metrics` and of `/health/ready`.
    pub async fn told(&self) -> String {
        let mut all = String::new();
        for path in ["/metrics", "/health/live", "/health/ready"] {
            if let Ok(answer) = self.operations(path).await {
                all += &answer.text().await.unwrap_or_default();
            }
        }
        all
    }

    /// The process's number.
    #[must_use]
    pub fn pid(&self) -> u32 {
        self.child.id()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("--- log of {} ---\n{}", self.log.display(), self.log());
        }
        if self.child.kill().is_ok() && self.child.wait().is_err() {
            eprintln!("process {} did not end", self.child.id());
        }
    }
}

/// Sends a signal by name to a process. The shell's own `kill`: a bare machine has no other.
pub fn send_signal(pid: u32, name: &str) {
    let sent = Command::new("sh")
        .args(["-c", &format!("kill -s {name} {pid}")])
        .status()
        .unwrap();
    assert!(sent.success());
}
