//! The control role in the test's own process, whose clock the test sets.

use crate::world::World;
use ops::clock::Clock;
use ops::failure::Fatal;
use ops::health::Health;
use ops::metrics::Metrics;
use ops::shutdown::Shutdown;
use store::Store;
use tokio::task::JoinSet;
use uuid::Uuid;

/// The real role on the world's real database and broker; only its clock is the test's.
pub struct ControlUnderClock {
    shutdown: Shutdown,
    tasks: JoinSet<Result<(), Fatal>>,
}

impl ControlUnderClock {
    /// Runs with this clock, which others may share.
    #[must_use]
    pub fn start(world: &World, clock: &Clock) -> Self {
        let shutdown = Shutdown::new();
        let config = control::Config {
            mqtt_url: world.settings["WATTLINE_MQTT_URL"].clone(),
            client_id: format!("control-{}", Uuid::new_v4().simple()),
        };
        let store = Store::open(&world.settings["WATTLINE_DATABASE_URL"], 5).unwrap();
        let handles = control::Handles {
            metrics: Metrics::new(),
            health: Health::new(),
            clock: clock.clone(),
        };
        let mut tasks = JoinSet::new();
        tasks.spawn(control::run(config, store, handles, shutdown.clone()));
        Self { shutdown, tasks }
    }

    /// Stops it, in order.
    pub async fn stop(self) {
        self.shutdown.trigger();
        for ended in self.tasks.join_all().await {
            ended.unwrap();
        }
    }
}
