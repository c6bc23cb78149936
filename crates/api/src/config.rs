//! What the api is given.

use crate::token::KeyRing;
use ops::clock::Clock;
use ops::health::Health;
use ops::metrics::Metrics;

/// Checked settings of the api.
#[derive(Clone, Debug)]
pub struct Config {
    /// Signs and verifies tokens.
    pub keys: KeyRing,
}

/// What the api shares with the rest of the process.
#[derive(Clone)]
pub struct Handles {
    /// Counts requests.
    pub metrics: Metrics,
    /// Gets the condition `database`.
    pub health: Health,
    /// Tells what time it is.
    pub clock: Clock,
}
