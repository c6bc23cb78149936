//! Prometheus, which scrapes processes and evaluates alert rules.

use std::{
    fs,
    io::{self, Write as _},
    path::{Path, PathBuf},
    process::Command,
    time::Duration,
};

use rustix::process::Signal;

use crate::{
    StartFailure, answer, folder, installed, port,
    process::{Launch, User},
    server::Server,
};

const NAME: &str = "prometheus";

/// How long a start may take; it takes half a second.
const PATIENCE: Duration = Duration::from_secs(20);

/// How a private Prometheus is started.
#[derive(Clone, Debug)]
pub struct PrometheusOptions {
    /// Its folder: configuration, log and samples. Made when missing.
    pub folder: PathBuf,
    /// Its configuration, as in `prometheus.yml`; relative paths are from the folder.
    pub configuration: String,
}

/// A private Prometheus on loopback, stopped when dropped.
#[derive(Debug)]
pub struct Prometheus {
    _server: Server,
    port: u16,
}

impl Prometheus {
    /// Starts it and waits until it is ready.
    ///
    /// # Errors
    /// When it is not on this machine, its folder cannot be used, or it ends or stays silent; the last two with
    /// the last lines of its log.
    pub fn start(options: &PrometheusOptions) -> Result<Self, StartFailure> {
        let program = find(NAME)?;
        let folder = folder::make(&options.folder)?;
        let port = port::choose(NAME, None)?;
        let configuration = folder.join("prometheus.yml");
        fs::write(&configuration, &options.configuration)
            .map_err(StartFailure::about(&configuration))?;
        let launch = Launch {
            program,
            arguments: vec![
                format!("--config.file={}", configuration.display()),
                format!("--storage.tsdb.path={}", folder.join("samples").display()),
                format!("--web.listen-address=127.0.0.1:{port}"),
            ],
            user: User::Same,
            on_parent_death: "TERM",
        };
        let mut server = Server::new(NAME, &folder, Signal::TERM);
        server.start(&launch, PATIENCE, || ask(port))?;
        Ok(Self {
            _server: server,
            port,
        })
    }

    /// The address of its interface, `http://127.0.0.1:PORT`.
    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }
}

/// Has promtool look at a file of rules; answers with what it says against it.
///
/// # Errors
/// When it is not on this machine, or refuses the file, in its own words.
pub fn check_rules(rules: &Path) -> Result<(), String> {
    let program = find("promtool").map_err(|missing| missing.to_string())?;
    let output = Command::new(program)
        .args(["check", "rules", "--lint=all", "--lint-fatal"])
        .arg(rules)
        .output()
        .map_err(|error| error.to_string())?;
    if output.status.success() {
        return Ok(());
    }
    let text = [output.stdout, output.stderr].concat();
    Err(String::from_utf8_lossy(&text).into_owned())
}

fn find(name: &'static str) -> Result<PathBuf, StartFailure> {
    let content = format!("usr/bin/{name}");
    installed::program(name).or_else(|missing| {
        let cached = installed::cached("prometheus-", &content);
        cached.map(|folder| folder.join(&content)).ok_or(missing)
    })
}

fn ask(port: u16) -> io::Result<()> {
    let mut stream = answer::connect(port)?;
    stream.write_all(b"GET /-/ready HTTP/1.0\r\n\r\n")?;
    let line: [u8; 12] = answer::ask(&mut stream, b"")?;
    if line.ends_with(b" 200") {
        Ok(())
    } else {
        Err(answer::not_understood("not ready"))
    }
}
