//! The broker as `deploy/` ships it, with its three listeners.

use crate::certificates::{Authority, CertifiedPair, PairFiles};
use embedded::{Mosquitto, MosquittoOptions};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;
use std::sync::{Mutex, MutexGuard, PoisonError};
use tempfile::TempDir;

/// The password of every user of a shipped broker.
const SECRET: &str = "secret";

/// A Mosquitto with the shipped configuration and access control list, every listener of it in use.
pub struct ShippedBroker {
    server: Mutex<Mosquitto>,
    services_port: u16,
    controllers_port: u16,
    guarded_port: u16,
    /// Who vouches for the broker.
    pub authority: Authority,
    /// Who vouches for services on other machines.
    pub services: Authority,
    folder: TempDir,
}

impl ShippedBroker {
    /// Starts it with these users beside `wattline`, all with the password `secret`. Blocks.
    #[must_use]
    pub fn start(users: &[&str]) -> Self {
        let authority = Authority::new();
        let pair = authority.issue();
        Self::start_with(users, authority, &pair)
    }

    /// The same with a certificate of the test's choice.
    #[must_use]
    pub fn start_with(users: &[&str], authority: Authority, pair: &CertifiedPair) -> Self {
        let folder = embedded::temporary_folder().unwrap();
        let services = Authority::new();
        write_files(folder.path(), users, pair, &services);
        let port = || embedded::free_port().unwrap();
        let (services_port, controllers_port, guarded_port) = (port(), port(), port());
        let listeners = [
            ("listener 1883 127.0.0.1", services_port),
            ("#listener 8883", controllers_port),
            ("#listener 8884", guarded_port),
        ];
        let mut options = MosquittoOptions::new(folder.path());
        options.port = Some(services_port);
        options.configuration = Some(configuration(folder.path(), &listeners));
        Self {
            server: Mutex::new(Mosquitto::start(&options).unwrap()),
            services_port,
            controllers_port,
            guarded_port,
            authority,
            services,
            folder,
        }
    }

    /// Where the service connects that is on the same machine, as its own user.
    #[must_use]
    pub fn service_url(&self) -> String {
        format!("mqtt://wattline:{SECRET}@127.0.0.1:{}", self.services_port)
    }

    /// Where controllers connect, over TLS.
    #[must_use]
    pub const fn controllers_port(&self) -> u16 {
        self.controllers_port
    }

    /// Where services of other machines connect, over TLS and with a certificate of theirs.
    #[must_use]
    pub const fn guarded_port(&self) -> u16 {
        self.guarded_port
    }

    /// Its folder, where a test may put files of its own.
    #[must_use]
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// The broker, to be looked at or restarted.
    pub fn control(&self) -> MutexGuard<'_, Mosquitto> {
        self.server.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What it has logged.
    #[must_use]
    pub fn log(&self) -> String {
        std::fs::read_to_string(self.folder.path().join("mosquitto.log")).unwrap()
    }
}

fn shipped(name: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../deploy/mosquitto");
    std::fs::read_to_string(folder.join(name)).unwrap()
}

/// The shipped text, everything in it that waits for a certificate in use.
fn configuration(folder: &Path, listeners: &[(&str, u16)]) -> String {
    let mut text = shipped("mosquitto.conf");
    for (line, port) in listeners {
        assert!(text.contains(line), "{line} is shipped");
        text = text.replace(line, &format!("listener {port} 127.0.0.1"));
    }
    let folder = folder.display().to_string();
    let text = text
        .replace("/etc/mosquitto/certs", &folder)
        .replace("/etc/mosquitto", &folder)
        .replace("/var/lib/mosquitto", &folder);
    let waits = |line: &&str| !line.starts_with("# ");
    let lines = text.lines().filter(waits);
    let used: Vec<&str> = lines.map(|line| line.trim_start_matches('#')).collect();
    used.join("\n")
}

fn write_files(folder: &Path, users: &[&str], pair: &CertifiedPair, services: &Authority) {
    let write = |name: &str, text: &str| std::fs::write(folder.join(name), text).unwrap();
    write("wattline.acl", &shipped("acl"));
    write("services.crt", services.pem());
    PairFiles {
        certificate: folder.join("server.crt"),
        key: folder.join("server.key"),
    }
    .write(pair);
    let lines: Vec<String> = [&["wattline"], users]
        .concat()
        .iter()
        .map(|user| format!("{user}:{SECRET}\n"))
        .collect();
    let passwords = folder.join("wattline.passwords");
    std::fs::write(&passwords, lines.concat()).unwrap();
    std::fs::set_permissions(&passwords, std::fs::Permissions::from_mode(0o600)).unwrap();
    let hashed = Command::new("mosquitto_passwd")
        .arg("-U")
        .arg(&passwords)
        .status();
    assert!(hashed.unwrap().success());
}
