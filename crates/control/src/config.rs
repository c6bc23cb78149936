//! What the role needs to be told, and the numbers that bound it.

use domain::time::Timestamp;
use ops::clock::Clock;
use ops::health::Health;
use ops::metrics::Metrics;
use std::time::Duration;

/// How often it is looked for what is due and what was reported.
pub(crate) const TICK: Duration = Duration::from_millis(100);

/// How often telemetry is looked at: it comes once a second at most.
pub(crate) const WATCH_INTERVAL: Duration = Duration::from_secs(1);

/// How often the outbox is looked at when nobody told of anything in it.
pub(crate) const OUTBOX_INTERVAL: Duration = Duration::from_secs(1);

/// How often it is counted what stands in the outbox.
pub(crate) const BACKLOG_INTERVAL: Duration = Duration::from_secs(2);

/// How often it is looked whether the broker still answers.
pub(crate) const VIGIL_INTERVAL: Duration = Duration::from_millis(500);

/// How long a look at what is due may take before it is told; it goes on.
pub(crate) const SLOW_AFTER: Duration = Duration::from_secs(3);

/// Documents on their way to the broker at once.
pub(crate) const IN_FLIGHT: u16 = 256;

/// How long the broker may take to confirm all of them. The database ends a transaction that waits for longer than
/// twice this.
pub(crate) const CONFIRMED_WITHIN: Duration = Duration::from_secs(5);

/// How long the database may take for a step; a connection on which nothing comes any more is given up then.
pub(crate) const DATABASE_PATIENCE: Duration = Duration::from_secs(20);

/// A silent broker is given up after twice this; it gives up a silent client after one and a half times this.
pub(crate) const KEEP_ALIVE: Duration = Duration::from_secs(10);

/// How long a connection must have lasted for the next one to be tried without a longer wait.
pub(crate) const STABLE_AFTER: Duration = Duration::from_secs(10);

/// How long the broker remembers a session that holds nothing: it tells whether the broker lost its memory.
pub(crate) const SESSION_EXPIRY_SECONDS: u32 = 7 * 24 * 3600;

/// What a broker that was killed may have lost although it had confirmed it. Mosquitto saves every half hour
/// by default, every 30 s as shipped.
pub(crate) const MAY_BE_LOST: Duration = Duration::from_secs(3600);

/// How often old actions are cleared away.
pub(crate) const HOUSEKEEPING_INTERVAL: Duration = Duration::from_secs(600);

/// How long actions are kept after their end, and reports and the audit after their time: as long as
/// a block may be planned ahead.
pub(crate) const KEPT: Duration = Duration::from_secs(400 * 24 * 3600);

/// Where the role publishes.
#[derive(Clone, Debug)]
pub struct Config {
    /// `mqtt://` or `mqtts://`, with user and password where the broker asks for them.
    pub mqtt_url: String,
    /// Names the session: fixed for each process, another one for each of them.
    pub client_id: String,
}

/// What the role shares with its process.
#[derive(Clone)]
pub struct Handles {
    /// Where is counted.
    pub metrics: Metrics,
    /// Where the conditions `mqtt`, `database`, `outbox` and `transitions` are told.
    pub health: Health,
    /// Rules when something is due.
    pub clock: Clock,
}

impl Handles {
    pub(crate) fn now(&self) -> Timestamp {
        Timestamp::from_micros(self.clock.now_micros())
    }
}
