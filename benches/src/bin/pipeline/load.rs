//! The simulated fleet, published over MQTT with QoS 1.

use benches::Outcome;
use domain::time::Timestamp;
use ops::clock::Clock;
use simulator::{Config, Pace, Scenario, Summary};
use std::sync::{Arc, OnceLock};
use std::thread;
use std::time::{Duration, Instant};
use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;

/// Where the fleet publishes.
pub(crate) struct Load {
    pub(crate) mqtt_url: String,
    pub(crate) connections: u16,
}

/// What was published.
pub(crate) struct Published {
    /// Counted by the fleet.
    pub(crate) summary: Summary,
    /// Time of the first record: with the scenario it names every record.
    pub(crate) start: Timestamp,
    /// From the first publication to the last confirmation.
    pub(crate) took: Duration,
    /// When the last was confirmed.
    pub(crate) ended: Instant,
}

impl Load {
    /// Publishes a scenario to its end. The fleet has a thread of its own, so that neither probes nor
    /// looks at the counters hold it up.
    pub(crate) async fn publish(&self, scenario: Scenario, pace: Pace) -> Outcome<Published> {
        let mut config = Config::new(&self.mqtt_url, scenario);
        config.client_id = "pipeline".to_owned();
        config.connections = self.connections;
        config.pace = pace;
        let (answer, published) = oneshot::channel();
        let fleet = thread::Builder::new()
            .name("fleet".to_owned())
            .spawn(move || answer.send(publish(config)).is_ok())?;
        let published = published.await.map_err(|_| "the fleet broke off")?;
        fleet.join().map_err(|_| "the fleet broke off")?;
        published
    }
}

fn publish(config: Config) -> Outcome<Published> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let clock = Clock::system();
    let first_look = Arc::new(OnceLock::new());
    let looked = Arc::clone(&first_look);
    // The first look at the clock is the time of the first record.
    let now = move || {
        let now = clock.now_micros();
        looked.get_or_init(|| now);
        now
    };
    let pace = config.pace;
    let begun = Instant::now();
    let summary = runtime.block_on(simulator::run(config, now, CancellationToken::new()))?;
    let start = match pace {
        Pace::AsFastAsPossible { start } => start,
        Pace::Realtime => {
            Timestamp::from_micros(*first_look.get().ok_or("the fleet has no clock")?)
        }
    };
    Ok(Published {
        summary,
        start,
        took: begun.elapsed(),
        ended: Instant::now(),
    })
}
