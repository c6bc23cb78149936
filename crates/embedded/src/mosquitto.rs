//! Eclipse Mosquitto, the MQTT broker.

mod config;

use std::{fs, io, path::PathBuf, time::Duration};

use rustix::process::Signal;

use crate::{
    StartFailure, answer, folder, installed, port,
    process::{Launch, User},
    server::Server,
};

const NAME: &str = "mosquitto";

/// How long a start may take; it takes a tenth of a second.
const PATIENCE: Duration = Duration::from_secs(10);

/// How a private broker is started.
#[derive(Clone, Debug)]
pub struct MosquittoOptions {
    /// Its folder: configuration, log and what it keeps over a restart. Made when missing.
    pub folder: PathBuf,
    /// The port on loopback; any free one without.
    pub port: Option<u16>,
    /// A password file (made by `mosquitto_passwd`); without it everybody on this machine may connect.
    pub password_file: Option<PathBuf>,
    /// An access control list; without it everybody who is connected may do everything.
    pub acl_file: Option<PathBuf>,
    /// A whole configuration in place of the private one, such as the shipped one: it must listen on `port`
    /// of loopback without TLS, and may listen elsewhere besides.
    pub configuration: Option<String>,
}

impl MosquittoOptions {
    /// A broker in `folder`, on any free port, open to everybody on this machine.
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        Self {
            folder: folder.into(),
            port: None,
            password_file: None,
            acl_file: None,
            configuration: None,
        }
    }
}

/// A private Mosquitto on loopback, stopped when dropped.
#[derive(Debug)]
pub struct Mosquitto {
    server: Server,
    launch: Launch,
    port: u16,
}

impl Mosquitto {
    /// Starts the broker and waits until it answers.
    ///
    /// # Errors
    /// When it is not on this machine, its port is in use, its folder cannot be used, or it ends or stays
    /// silent; the last two with the last lines of its log.
    pub fn start(options: &MosquittoOptions) -> Result<Self, StartFailure> {
        let program = installed::program(NAME)?;
        let folder = folder::make(&options.folder)?;
        let port = port::choose(NAME, options.port)?;
        let configuration = folder.join("mosquitto.conf");
        fs::write(&configuration, config::text(&folder, port, options))
            .map_err(StartFailure::about(&configuration))?;
        let launch = Launch {
            program,
            arguments: vec!["-c".to_owned(), configuration.display().to_string()],
            user: User::Same,
            on_parent_death: "TERM",
        };
        let mut mosquitto = Self {
            server: Server::new(NAME, &folder, Signal::TERM),
            launch,
            port,
        };
        mosquitto.restart()?;
        Ok(mosquitto)
    }

    /// The port on loopback.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// `mqtt://127.0.0.1:PORT`.
    pub fn url(&self) -> String {
        format!("mqtt://127.0.0.1:{}", self.port)
    }

    /// The process id while it runs.
    pub fn id(&self) -> Option<u32> {
        self.server.id()
    }

    /// Stops it in order: sessions, queues and retained messages are written first.
    pub fn stop(&mut self) {
        self.server.stop();
    }

    /// Kills it (SIGKILL). What came in since it last wrote its memory down, five seconds at most, is gone:
    /// that is Mosquitto's promise, not a fault of this crate.
    pub fn kill(&mut self) {
        self.server.kill();
    }

    /// Starts it again on the same port with what it had kept; stops it first when it runs.
    ///
    /// # Errors
    /// As [`Self::start`].
    pub fn restart(&mut self) -> Result<(), StartFailure> {
        self.server.stop();
        port::choose(NAME, Some(self.port))?;
        let port = self.port;
        self.server.start(&self.launch, PATIENCE, || greet(port))
    }

    /// Stops its time: connections stay open, nothing answers.
    pub fn freeze(&self) {
        self.server.freeze();
    }

    /// Lets it go on after [`Self::freeze`].
    pub fn thaw(&self) {
        self.server.thaw();
    }
}

/// Connects as an MQTT 3.1.1 client; a refusal (no password) is an answer too.
fn greet(port: u16) -> io::Result<()> {
    // CONNECT, 13 bytes to come: "MQTT", level 4, clean session, keep alive 5 s, client id "?".
    const CONNECT: &[u8] = b"\x10\x0d\x00\x04MQTT\x04\x02\x00\x05\x00\x01?";
    const CONNACK: u8 = 0x20;
    let answer: [u8; 4] = answer::ask(&mut answer::connect(port)?, CONNECT)?;
    if answer[0] == CONNACK {
        Ok(())
    } else {
        Err(answer::not_understood("not an MQTT broker"))
    }
}
