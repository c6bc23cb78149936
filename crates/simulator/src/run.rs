//! Publishes a fleet over MQTT 5.

mod connection;
mod ledger;
mod presence;
mod subscription;

use crate::plan::Plan;
use crate::scenario::{BadScenario, Scenario};
use crate::summary::Summary;
use connection::Connection;
use domain::time::Timestamp;
use mqtt::Broker;
use rumqttc::v5::MqttOptions;
use std::time::Duration;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

/// Publications in flight on one connection unless the configuration says otherwise.
pub const DEFAULT_WINDOW: u16 = 1_024;
/// A broker answers within milliseconds; after this long without an answer the connection is dead.
pub const DEFAULT_ACKNOWLEDGEMENT_TIMEOUT: Duration = Duration::from_secs(10);
/// After being told to stop, a connection waits this long for what is in flight.
pub const GRACE: Duration = Duration::from_secs(5);
const KEEP_ALIVE: Duration = Duration::from_secs(15);
/// More connections than buildings or file descriptors have no use.
pub const CONNECTIONS_MAXIMUM: u16 = 1_000;

/// How a fleet is published.
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    /// `mqtt://` or `mqtts://`, `[user[:password]@]host[:port]`.
    pub mqtt_url: String,
    /// Client id; further connections add `-2`, `-3` and so on.
    pub client_id: String,
    /// Over how many connections the buildings are spread, at least one.
    pub connections: u16,
    /// Publications in flight on one connection, at least one.
    pub window: u16,
    /// Without an acknowledgement for this long, a connection starts over.
    pub acknowledgement_timeout: Duration,
    /// When records are published.
    pub pace: Pace,
    /// What is published.
    pub scenario: Scenario,
}

impl Config {
    /// Publishes the scenario from now on over one connection.
    #[must_use]
    pub fn new(mqtt_url: impl Into<String>, scenario: Scenario) -> Self {
        Self {
            mqtt_url: mqtt_url.into(),
            client_id: "wattline-simulate".to_owned(),
            connections: 1,
            window: DEFAULT_WINDOW,
            acknowledgement_timeout: DEFAULT_ACKNOWLEDGEMENT_TIMEOUT,
            pace: Pace::Realtime,
            scenario,
        }
    }

    fn check(&self) -> Result<Broker, Failure> {
        let refuse = |option, expected| Err(Failure::Scenario(BadScenario { option, expected }));
        if !(1..=CONNECTIONS_MAXIMUM).contains(&self.connections) {
            return refuse("connections", "1 to 1000");
        }
        if self.window == 0 {
            return refuse("window", "at least one");
        }
        self.scenario.check()?;
        Ok(Broker::parse(&self.mqtt_url)?)
    }

    /// A session of its own that ends with the connection.
    fn options(&self, broker: &Broker, part: usize) -> MqttOptions {
        let mut options = broker.options(&client_id(&self.client_id, part));
        options
            .set_clean_start(true)
            .set_keep_alive(KEEP_ALIVE)
            .set_outgoing_inflight_upper_limit(self.window);
        options
    }
}

/// When records are published.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pace {
    /// Each at its time; the first ones now. What an outage has held up comes after it, with its own time.
    Realtime,
    /// Without waiting; the records' times run on from `start`, whatever the clock says, so it
    /// should lie far enough in the past.
    AsFastAsPossible {
        /// Time of the first record.
        start: Timestamp,
    },
}

/// Why a fleet cannot be published at all; whatever can pass is waited for instead.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Failure {
    /// An option that makes no sense.
    #[error(transparent)]
    Scenario(#[from] BadScenario),
    /// The broker's address is none, or encryption has nobody to trust.
    #[error(transparent)]
    Broker(#[from] mqtt::Unusable),
}

/// Publishes until the scenario ends or `shutdown` is cancelled, and tells what was published and
/// confirmed. `now` is the clock, in microseconds since the epoch. A broker that is away is waited for.
///
/// # Errors
/// Only what makes no sense from the start: see [`Failure`].
pub async fn run<Now>(
    config: Config,
    now: Now,
    shutdown: CancellationToken,
) -> Result<Summary, Failure>
where
    Now: Fn() -> i64 + Clone + Send + 'static,
{
    let broker = config.check()?;
    let start = match config.pace {
        Pace::Realtime => Timestamp::from_micros(now()),
        Pace::AsFastAsPossible { start } => start,
    };
    let connections = usize::from(config.connections);
    let mut tasks = JoinSet::new();
    for part in 0..connections {
        let plan = Plan::part(&config.scenario, start, part, connections)?;
        let options = config.options(&broker, part);
        let connection = Connection::new(&config, options, plan, now.clone(), shutdown.clone());
        tasks.spawn(connection.publish_all());
    }
    let mut total = Summary::default();
    while let Some(ended) = tasks.join_next().await {
        match ended {
            Ok(summary) => total += summary,
            Err(broken) if broken.is_panic() => std::panic::resume_unwind(broken.into_panic()),
            // The process ends.
            Err(_cancelled) => {}
        }
    }
    Ok(total)
}

fn client_id(first: &str, part: usize) -> String {
    match part {
        0 => first.to_owned(),
        further => format!("{first}-{}", further + 1),
    }
}
