//! What every handler can reach.

use crate::admission::Lanes;
use crate::config::{Config, Handles};
use crate::login::PasswordChecks;
use crate::password::PasswordFailure;
use crate::token::KeyRing;
use domain::time::Timestamp;
use ipnet::IpNet;
use ops::clock::Clock;
use ops::metrics::Metrics;
use std::sync::Arc;
use store::Store;

/// The router's state; cheap to clone.
#[derive(Clone)]
pub(crate) struct Api(Arc<Shared>);

/// What the clones share.
pub(crate) struct Shared {
    pub(crate) store: Store,
    pub(crate) lanes: Lanes,
    pub(crate) keys: KeyRing,
    pub(crate) metrics: Metrics,
    pub(crate) passwords: PasswordChecks,
    /// Proxies whose word about the client is believed.
    pub(crate) trusted_proxies: Vec<IpNet>,
    /// Whether the api speaks HTTPS itself.
    pub(crate) https: bool,
    clock: Clock,
}

impl Api {
    /// Takes some 20 ms, for the hash that unknown users are checked against.
    pub(crate) fn new(
        config: Config,
        store: Store,
        handles: Handles,
    ) -> Result<Self, PasswordFailure> {
        Ok(Self(Arc::new(Shared {
            store,
            lanes: Lanes::default(),
            keys: config.keys,
            metrics: handles.metrics,
            passwords: PasswordChecks::new()?,
            trusted_proxies: config.trusted_proxies,
            https: config.tls.is_some(),
            clock: handles.clock,
        })))
    }

    /// The moment in which a request is answered.
    pub(crate) fn now(&self) -> Timestamp {
        Timestamp::from_micros(self.0.clock.now_micros())
    }
}

impl std::ops::Deref for Api {
    type Target = Shared;

    fn deref(&self) -> &Shared {
        &self.0
    }
}
