//! Apache Kafka, one node that is broker and controller (KRaft).

mod config;
mod java;
mod question;

use std::{fs, path::PathBuf, time::Duration};

use rustix::process::Signal;

use self::java::Java;
use crate::{
    StartFailure,
    certificate::{self, ServerCertificate},
    folder, port,
    process::Launch,
    server::Server,
};

const NAME: &str = "kafka";

/// How long a start may take; it takes one to four seconds, and longer after a kill with much data.
const PATIENCE: Duration = Duration::from_secs(60);

/// How a private Kafka is started.
#[derive(Clone, Debug)]
pub struct KafkaOptions {
    /// Its folder: configuration, log and data. Made when missing.
    pub folder: PathBuf,
    /// The port on loopback; any free one without.
    pub port: Option<u16>,
    /// Further ways in.
    pub routes: Vec<KafkaRoute>,
    /// A way in with TLS, for who logs in.
    pub login: Option<KafkaLogin>,
}

/// A listener that speaks TLS and lets in who knows a password (SASL: PLAIN and SCRAM-SHA-512).
#[derive(Clone, Debug)]
pub struct KafkaLogin {
    /// Certificate and key of `localhost`, as which Kafka is told to these clients.
    pub certificate: ServerCertificate,
    /// The one user.
    pub user: String,
    /// Without quotes, commas and brackets.
    pub password: String,
}

/// A way in over something that stands in between (a proxy): whoever comes this way is sent back the same way,
/// since Kafka tells its clients where to connect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KafkaRoute {
    /// The port on loopback that Kafka listens on.
    pub port: u16,
    /// The port on loopback that its clients are told.
    pub advertised_port: u16,
}

impl KafkaOptions {
    /// A Kafka in `folder`, on any free port.
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        Self {
            folder: folder.into(),
            port: None,
            routes: Vec::new(),
            login: None,
        }
    }
}

/// A private Kafka on loopback, stopped when dropped. It makes no topic unasked.
#[derive(Debug)]
pub struct Kafka {
    server: Server,
    launch: Launch,
    port: u16,
    login_port: Option<u16>,
}

impl Kafka {
    /// Starts Kafka and waits until it answers a request for metadata.
    ///
    /// # Errors
    /// When it or Java is not on this machine, its port is in use, its folder cannot be used, or it ends or
    /// stays silent; the last two with the last lines of its log.
    pub fn start(options: &KafkaOptions) -> Result<Self, StartFailure> {
        let folder = folder::make(&options.folder)?;
        let java = Java::find(&folder)?;
        let port = port::choose(NAME, options.port)?;
        let controller_port = port::choose(NAME, None)?;
        let mut text = config::text(&folder, port, controller_port, &options.routes);
        let mut login_port = None;
        if let Some(login) = &options.login {
            let port = port::choose(NAME, None)?;
            let keystore = folder.join("keystore.pem");
            let pair = &login.certificate;
            certificate::write(&keystore, &format!("{}{}", pair.key, pair.certificate))?;
            text = config::with_login(&text, port, &keystore, login);
            login_port = Some(port);
        }
        let properties = folder.join("server.properties");
        fs::write(&properties, text).map_err(StartFailure::about(&properties))?;
        let properties = properties.display().to_string();
        if !config::data(&folder).join("bootstrap.checkpoint").exists() {
            java.format(&properties, options.login.as_ref())?;
        }
        let launch = java.launch(&["kafka.Kafka", &properties]);
        let mut kafka = Self {
            server: Server::new(NAME, &folder, Signal::TERM),
            launch,
            port,
            login_port,
        };
        kafka.restart()?;
        Ok(kafka)
    }

    /// The port on loopback.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// `127.0.0.1:PORT`, as clients take it.
    pub fn brokers(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    /// The port with TLS and login; none without [`KafkaOptions::login`].
    pub fn login_port(&self) -> Option<u16> {
        self.login_port
    }

    /// The process id while it runs.
    pub fn id(&self) -> Option<u32> {
        self.server.id()
    }

    /// Stops it in order.
    pub fn stop(&mut self) {
        self.server.stop();
    }

    /// Kills it (SIGKILL). What it had acknowledged is there after [`Self::restart`].
    pub fn kill(&mut self) {
        self.server.kill();
    }

    /// Starts it again on the same port with its data; stops it first when it runs.
    ///
    /// # Errors
    /// As [`Self::start`].
    pub fn restart(&mut self) -> Result<(), StartFailure> {
        self.server.stop();
        port::choose(NAME, Some(self.port))?;
        let port = self.port;
        self.server
            .start(&self.launch, PATIENCE, || question::metadata(port))
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
