//! PostgreSQL, plain or with TimescaleDB.

mod cluster;
mod owner;
mod protocol;

use std::{
    io,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use rustix::process::Signal;
use tempfile::TempDir;

use self::protocol::Connection;
use crate::{
    StartFailure,
    certificate::{self, CertificateFiles, ServerCertificate},
    folder, installed, port,
    process::{Launch, User},
    server::Server,
};

const NAME: &str = "postgres";

/// How long a start may take; it takes a twentieth of a second, and longer after a kill with much data.
const PATIENCE: Duration = Duration::from_secs(120);

/// How long a start is tried again because the server that was killed is not quite gone.
const STALE_PATIENCE: Duration = Duration::from_secs(10);

/// The port in the socket's name when no TCP port is asked for.
const SOCKET_PORT: u16 = 5432;

/// The longest path that a unix socket may have.
const LONGEST_SOCKET: usize = 107;

/// Which PostgreSQL is started.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Edition {
    /// The machine's own, without extensions.
    Plain,
    /// PostgreSQL with the Apache edition of TimescaleDB, from the cache of fetched servers.
    Timescale,
}

/// How a private PostgreSQL is started.
#[derive(Clone, Debug)]
pub struct PostgresOptions {
    /// Its folder: log, data and socket. Made when missing; as root it is given to the user PostgreSQL runs as.
    pub folder: PathBuf,
    /// Which one.
    pub edition: Edition,
    /// Listens on this port of loopback too; without it on a unix socket only.
    pub tcp_port: Option<u16>,
    /// Whether a commit is on the disk before it is acknowledged. Without it a killed server still loses
    /// nothing, but a power cut of the machine may.
    pub durable: bool,
    /// With it, who comes by TCP speaks TLS and knows a password (SCRAM); the socket stays as it is.
    pub tls: Option<ServerCertificate>,
}

impl PostgresOptions {
    /// A durable PostgreSQL of `edition` in `folder`, on a unix socket only.
    pub fn new(folder: impl Into<PathBuf>, edition: Edition) -> Self {
        Self {
            folder: folder.into(),
            edition,
            tcp_port: None,
            durable: true,
            tls: None,
        }
    }
}

/// A private PostgreSQL, stopped when dropped. Everybody who can reach its socket is its superuser.
#[derive(Debug)]
pub struct Postgres {
    server: Server,
    launch: Launch,
    socket: Socket,
    tcp_port: Option<u16>,
}

impl Postgres {
    /// Starts the server, with a new data folder where there is none, and waits until a connection works.
    ///
    /// # Errors
    /// When it is not on this machine, its folder cannot be used or belongs to another major version, its port
    /// is in use, or it ends or stays silent; the last two with the last lines of its log.
    pub fn start(options: &PostgresOptions) -> Result<Self, StartFailure> {
        let programs = programs(options.edition)?;
        let folder = folder::make(&options.folder)?;
        let user = owner::user()?;
        owner::give(&folder, &user)?;
        cluster::prepare(&programs, &folder, &user, options.durable)?;
        let tls = match &options.tls {
            Some(pair) => Some(Tls::write(pair, &folder, &user)?),
            None => None,
        };
        let socket = Socket::near(&folder, &user, options.tcp_port.unwrap_or(SOCKET_PORT))?;
        let launch = Launch {
            program: programs.join(NAME),
            arguments: arguments(options, &folder, &socket, tls.as_ref()),
            user,
            on_parent_death: "INT",
        };
        // SIGINT is the fast shutdown: sessions are ended, what is committed is kept.
        let server = Server::new(NAME, &folder, Signal::INT);
        let mut postgres = Self {
            server,
            launch,
            socket,
            tcp_port: options.tcp_port,
        };
        postgres.restart()?;
        Ok(postgres)
    }

    /// The address of a database, as sqlx takes it: `postgres://postgres@%2Fsocket%2Fdir:5432/database`.
    pub fn url(&self, database: &str) -> String {
        let folder = percent_encoded(&self.socket.folder);
        format!(
            "postgres://postgres@{folder}:{}/{database}",
            self.socket.port
        )
    }

    /// Makes a database that is not there yet.
    ///
    /// # Errors
    /// When the server does not answer or refuses.
    pub fn create_database(&self, name: &str) -> io::Result<()> {
        let mut connection = Connection::open(&self.socket.path())?;
        match connection.execute(&format!(
            "create database \"{}\"",
            name.replace('"', "\"\"")
        )) {
            Err(error) if error.to_string().starts_with(protocol::DUPLICATE_DATABASE) => Ok(()),
            outcome => outcome,
        }
    }

    /// The process id while it runs.
    pub fn id(&self) -> Option<u32> {
        self.server.id()
    }

    /// Stops it in order; sessions are ended.
    pub fn stop(&mut self) {
        self.server.stop();
    }

    /// Kills it with all its processes (SIGKILL). What was committed is there after [`Self::restart`].
    pub fn kill(&mut self) {
        self.server.kill();
    }

    /// Starts it again on the same socket with its data; stops it first when it runs.
    ///
    /// # Errors
    /// As [`Self::start`].
    pub fn restart(&mut self) -> Result<(), StartFailure> {
        self.server.stop();
        if let Some(port) = self.tcp_port {
            port::choose(NAME, Some(port))?;
        }
        let began = Instant::now();
        let socket = self.socket.path();
        loop {
            let answers = || Connection::open(&socket).map(drop);
            match self.server.start(&self.launch, PATIENCE, answers) {
                Err(failure) if cluster::is_stale(&failure) && began.elapsed() < STALE_PATIENCE => {
                    tracing::debug!("waiting for the server that had this data folder before");
                    std::thread::sleep(Duration::from_millis(200));
                }
                outcome => return outcome,
            }
        }
    }

    /// Stops the time of all its processes: connections stay open, nothing answers.
    pub fn freeze(&self) {
        self.server.freeze();
    }

    /// Lets it go on after [`Self::freeze`].
    pub fn thaw(&self) {
        self.server.thaw();
    }
}

fn programs(edition: Edition) -> Result<PathBuf, StartFailure> {
    match edition {
        Edition::Plain => {
            installed::postgres_programs(Path::new("/")).ok_or(StartFailure::Missing("PostgreSQL"))
        }
        Edition::Timescale => installed::cached("timescaledb-", "usr/lib/postgresql")
            .and_then(|unpacked| installed::postgres_programs(&unpacked))
            .ok_or(StartFailure::Missing("TimescaleDB")),
    }
}

/// Writes a path as the host part of an address.
fn percent_encoded(path: &Path) -> String {
    use std::os::unix::ffi::OsStrExt;

    let encode = |byte: &u8| match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' => {
            char::from(*byte).to_string()
        }
        other => format!("%{other:02X}"),
    };
    path.as_os_str().as_bytes().iter().map(encode).collect()
}

/// Where the unix socket is.
#[derive(Debug)]
struct Socket {
    folder: PathBuf,
    port: u16,
    /// Removed in the end, when the socket could not be in the server's own folder.
    _elsewhere: Option<TempDir>,
}

impl Socket {
    /// In `folder` when the path is short enough, else in a temporary one.
    fn near(folder: &Path, user: &User, port: u16) -> Result<Self, StartFailure> {
        let near = Self {
            folder: folder.to_owned(),
            port,
            _elsewhere: None,
        };
        if near.path().as_os_str().len() <= LONGEST_SOCKET {
            return Ok(near);
        }
        let elsewhere =
            folder::temporary_folder().map_err(StartFailure::about("a temporary folder"))?;
        owner::give(elsewhere.path(), user)?;
        Ok(Self {
            folder: elsewhere.path().to_owned(),
            port,
            _elsewhere: Some(elsewhere),
        })
    }

    fn path(&self) -> PathBuf {
        self.folder.join(format!(".s.PGSQL.{}", self.port))
    }
}

/// The files of encryption, and who may come in.
struct Tls {
    files: CertificateFiles,
    rules: PathBuf,
}

impl Tls {
    fn write(pair: &ServerCertificate, folder: &Path, user: &User) -> Result<Self, StartFailure> {
        let files = pair.write(folder)?;
        let rules = folder.join("pg_hba.conf");
        let certificate = files
            .clients
            .as_ref()
            .map_or("", |_| " clientcert=verify-ca");
        let text = format!(
            "local all all trust\nhostssl all all 127.0.0.1/32 scram-sha-256{certificate}\n"
        );
        certificate::write(&rules, &text)?;
        let all = [
            Some(&files.certificate),
            Some(&files.key),
            files.clients.as_ref(),
        ];
        for path in all.into_iter().flatten().chain([&rules]) {
            owner::give_file(path, user)?;
        }
        Ok(Self { files, rules })
    }

    fn settings(&self) -> Vec<String> {
        let mut settings = vec![
            "ssl=on".to_owned(),
            format!("ssl_cert_file={}", self.files.certificate.display()),
            format!("ssl_key_file={}", self.files.key.display()),
            format!("hba_file={}", self.rules.display()),
        ];
        if let Some(clients) = &self.files.clients {
            settings.push(format!("ssl_ca_file={}", clients.display()));
        }
        settings
    }
}

fn arguments(
    options: &PostgresOptions,
    folder: &Path,
    socket: &Socket,
    tls: Option<&Tls>,
) -> Vec<String> {
    let mut settings = vec![
        format!("unix_socket_directories={}", socket.folder.display()),
        format!("port={}", socket.port),
        format!(
            "listen_addresses={}",
            if options.tcp_port.is_some() {
                "127.0.0.1"
            } else {
                ""
            }
        ),
        "max_connections=200".to_owned(),
        "shared_buffers=128MB".to_owned(),
        "max_wal_size=1GB".to_owned(),
        format!("fsync={}", if options.durable { "on" } else { "off" }),
    ];
    settings.extend(tls.map(Tls::settings).unwrap_or_default());
    if options.edition == Edition::Timescale {
        settings.push("shared_preload_libraries=timescaledb".to_owned());
        settings.push("timescaledb.telemetry_level=off".to_owned());
        // The Apache edition has no job to run; a worker would keep a database from being a template.
        settings.push("timescaledb.max_background_workers=0".to_owned());
    }
    let data = cluster::data(folder).display().to_string();
    let settings = settings
        .into_iter()
        .flat_map(|setting| ["-c".to_owned(), setting]);
    ["-D".to_owned(), data]
        .into_iter()
        .chain(settings)
        .collect()
}
