//! What the api is given.

use crate::tls::Tls;
use crate::token::KeyRing;
use ipnet::IpNet;
use ops::clock::Clock;
use ops::health::Health;
use ops::metrics::Metrics;

/// Checked settings of the api.
#[derive(Clone, Debug)]
pub struct Config {
    /// Signs and verifies tokens.
    pub keys: KeyRing,
    /// With it the api speaks HTTPS, without it HTTP.
    pub tls: Option<Tls>,
    /// Proxies whose `Forwarded` and `X-Forwarded-For` are believed.
    pub trusted_proxies: Vec<IpNet>,
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
