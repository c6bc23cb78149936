//! Another program in the place of one of ours.

use crate::servers::Site;
use benches::Outcome;
use rustix::process::{Pid, Signal, kill_process_group};
use std::fs::{self, File};
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

/// What a contender in the place of the bridge subscribes to.
pub(crate) const FILTER: &str = "v1/buildings/+/telemetry";

/// A program of somebody else that runs; killed with all processes of its group when dropped.
pub(crate) struct Contender {
    child: Child,
    log: PathBuf,
}

impl Contender {
    /// Starts a shell's command; benches/README.md tells what it finds in its environment.
    pub(crate) fn start(command: &str, site: &Site) -> Outcome<Self> {
        let schema = site.folder.join("telemetry.schema.json");
        let (_, text) = wire::schema::SCHEMAS[0];
        fs::write(&schema, text)?;
        let log = site.folder.join("contender.log");
        let file = File::create(&log)?;
        let child = Command::new("setpriv")
            .args(["--pdeathsig", "KILL", "--", "sh", "-c", command])
            .env("BENCH_MQTT_HOST", "127.0.0.1")
            .env("BENCH_MQTT_PORT", site.mosquitto.port().to_string())
            .env("BENCH_MQTT_FILTER", FILTER)
            .env(
                "BENCH_KAFKA_BROKERS",
                site.setting("WATTLINE_KAFKA_BROKERS")?,
            )
            .env("BENCH_KAFKA_TOPIC", &site.topic.name)
            .env("BENCH_SCHEMA_FILE", &schema)
            .process_group(0)
            .stdin(Stdio::null())
            .stdout(file.try_clone()?)
            .stderr(file)
            .spawn()?;
        Ok(Self { child, log })
    }

    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// What it has said, when it has ended by itself.
    pub(crate) fn last_words(&mut self) -> Outcome<Option<String>> {
        let Some(status) = self.child.try_wait()? else {
            return Ok(None);
        };
        let said = fs::read_to_string(&self.log)?;
        Ok(Some(format!("the contender has ended, {status}:\n{said}")))
    }
}

impl Drop for Contender {
    fn drop(&mut self) {
        let group = Pid::from_child(&self.child);
        // Gone already when it has ended by itself.
        kill_process_group(group, Signal::KILL).ok();
        self.child.wait().ok();
    }
}
