//! The Java that runs Kafka's programs.

use std::{
    fs,
    path::{Path, PathBuf},
};

use super::KafkaLogin;
use crate::{
    StartFailure, installed,
    process::{self, Launch, User},
};

/// Any name will do for a cluster of one; Kafka wants 16 bytes in base64.
const CLUSTER: &str = "d2F0dGxpbmUtcHJpdmF0ZQ";

/// The heap is bounded, the collector is the one with the fewest threads; a log is for what went wrong.
const MACHINE: [&str; 5] = [
    "-Xmx512m",
    "-XX:+UseSerialGC",
    "-XX:-UsePerfData",
    "-XX:+ExitOnOutOfMemoryError",
    "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn",
];

/// Java, and the Kafka that was fetched for it.
pub(super) struct Java {
    program: PathBuf,
    home: PathBuf,
    temporary: PathBuf,
}

impl Java {
    /// Finds both. What Java unpacks goes below `folder`, for a killed one leaves it there.
    pub(super) fn find(folder: &Path) -> Result<Self, StartFailure> {
        let program = installed::program("java")?;
        let home = installed::cached("kafka-", "libs").ok_or(StartFailure::Missing("Kafka"))?;
        let temporary = folder.join("tmp");
        if temporary.exists() {
            fs::remove_dir_all(&temporary).map_err(StartFailure::about(&temporary))?;
        }
        fs::create_dir(&temporary).map_err(StartFailure::about(&temporary))?;
        Ok(Self {
            program,
            home,
            temporary,
        })
    }

    /// Makes the data folder that the properties name, in which the one user's password is known.
    pub(super) fn format(
        &self,
        properties: &str,
        login: Option<&KafkaLogin>,
    ) -> Result<(), StartFailure> {
        let scram = login.map(|KafkaLogin { user, password, .. }| {
            format!("SCRAM-SHA-512=[name={user},password={password}]")
        });
        let tool = "kafka.tools.StorageTool";
        let mut arguments = vec![
            tool,
            "format",
            "--ignore-formatted",
            "-t",
            CLUSTER,
            "-c",
            properties,
        ];
        if let Some(scram) = &scram {
            arguments.extend(["--add-scram", scram]);
        }
        process::run(tool, &self.launch(&arguments))
    }

    /// How a class of Kafka's is run; the first of `arguments` is its name.
    pub(super) fn launch(&self, arguments: &[&str]) -> Launch {
        // Classes already parsed, made by `deploy/servers/install.sh`: a start takes one second in place of
        // four. Java passes over an archive that another Java made.
        let archive = self.home.join("classes.jsa");
        let shared = archive
            .exists()
            .then(|| format!("-XX:SharedArchiveFile={}", archive.display()));
        let machine = MACHINE.map(str::to_owned).into_iter().chain(shared).chain([
            format!("-Djava.io.tmpdir={}", self.temporary.display()),
            "-cp".to_owned(),
            format!("{}/libs/*", self.home.display()),
        ]);
        Launch {
            program: self.program.clone(),
            arguments: machine
                .chain(arguments.iter().map(|argument| (*argument).to_owned()))
                .collect(),
            user: User::Same,
            // An orderly end could hang; its data is whole after a kill too.
            on_parent_death: "KILL",
        }
    }
}
