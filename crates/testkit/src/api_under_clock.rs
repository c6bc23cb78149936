//! An api in the test's own process, whose clock the test sets.

use crate::api_client::Client;
use crate::world::World;
use ops::clock::Clock;
use ops::failure::Fatal;
use ops::health::Health;
use ops::metrics::Metrics;
use ops::shutdown::Shutdown;
use std::path::Path;
use std::time::Duration;
use store::Store;
use tokio::net::TcpListener;
use tokio::task::JoinSet;

/// The real api on the world's real database; only its clock is the test's.
pub struct ApiUnderClock {
    /// What time the api believes it is.
    pub clock: Clock,
    /// What it counts.
    pub metrics: Metrics,
    port: u16,
    shutdown: Shutdown,
    tasks: JoinSet<Result<(), Fatal>>,
}

impl ApiUnderClock {
    /// Serves on a free port; the clock stands at `now_seconds` since the epoch.
    pub async fn start(world: &World, now_seconds: i64) -> Self {
        let clock = Clock::manual(now_seconds * 1_000_000);
        let metrics = Metrics::new();
        let shutdown = Shutdown::new();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let key_file = Path::new(&world.settings["WATTLINE_TOKEN_KEY_FILE"]);
        let config = api::Config {
            keys: api::token::KeyRing::open(key_file).unwrap(),
            tls: None,
            trusted_proxies: Vec::new(),
        };
        let store = Store::open(&world.settings["WATTLINE_DATABASE_URL"], 8).unwrap();
        let handles = api::Handles {
            metrics: metrics.clone(),
            health: Health::new(),
            clock: clock.clone(),
        };
        let mut tasks = JoinSet::new();
        tasks.spawn(api::run(config, listener, store, handles, shutdown.clone()));
        Self {
            clock,
            metrics,
            port,
            shutdown,
            tasks,
        }
    }

    /// A client without a login.
    #[must_use]
    pub fn client(&self) -> Client {
        Client::new(self.port)
    }

    /// Where it listens on loopback.
    #[must_use]
    pub const fn port(&self) -> u16 {
        self.port
    }

    /// Moves the clock.
    pub fn advance_seconds(&self, seconds: u64) {
        self.clock.advance(Duration::from_secs(seconds));
    }

    /// Stops it, in order.
    pub async fn stop(self) {
        self.shutdown.trigger();
        for ended in self.tasks.join_all().await {
            ended.unwrap();
        }
    }
}
