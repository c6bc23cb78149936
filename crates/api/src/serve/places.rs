//! How many connections there are, and how many of them one address has.

use crate::forwarded::is_trusted;
use crate::limits::{CONNECTIONS_AT_ONCE, CONNECTIONS_OF_ONE_ADDRESS, IPV6_CLIENT_PREFIX};
use ipnet::{IpNet, Ipv6Net};
use ops::metrics::{Gauge, Metrics};
use std::collections::HashMap;
use std::io;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// The places for connections; one address can take a part of them only.
pub(super) struct Places {
    all: Arc<Semaphore>,
    trusted: Vec<IpNet>,
    shared: Arc<Shared>,
}

struct Shared {
    /// Connections by [`client`]; those who have none are not in it.
    taken: Mutex<HashMap<IpAddr, usize>>,
    metrics: Metrics,
}

/// A connection's place, given back when dropped.
pub(super) struct Place {
    client: IpAddr,
    shared: Arc<Shared>,
    _free: OwnedSemaphorePermit,
}

impl Places {
    pub(super) fn new(trusted: Vec<IpNet>, metrics: Metrics) -> Self {
        Self {
            all: Arc::new(Semaphore::new(CONNECTIONS_AT_ONCE)),
            trusted,
            shared: Arc::new(Shared {
                taken: Mutex::default(),
                metrics,
            }),
        }
    }

    /// Waits until one more connection is within the bound on all.
    pub(super) async fn free(&self) -> io::Result<OwnedSemaphorePermit> {
        let free = Arc::clone(&self.all).acquire_owned().await;
        free.map_err(io::Error::other)
    }

    /// The place of a connection from `peer`; none when its address has as many as one may have.
    /// A proxy has those of all its clients, so a trusted one may have any number.
    pub(super) fn take(&self, free: OwnedSemaphorePermit, peer: IpAddr) -> Option<Place> {
        let client = client(peer);
        {
            let mut taken = self.shared.taken();
            let of_client = taken.entry(client).or_default();
            if *of_client >= CONNECTIONS_OF_ONE_ADDRESS && !is_trusted(peer, &self.trusted) {
                return None;
            }
            *of_client += 1;
        }
        let metrics = &self.shared.metrics;
        metrics.update(|update| update.raise(Gauge::ApiConnections, 1.0));
        Some(Place {
            client,
            shared: Arc::clone(&self.shared),
            _free: free,
        })
    }
}

impl Shared {
    fn taken(&self) -> MutexGuard<'_, HashMap<IpAddr, usize>> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut taken = self.shared.taken();
        if let Some(of_client) = taken.get_mut(&self.client) {
            *of_client -= 1;
            if *of_client == 0 {
                taken.remove(&self.client);
            }
        }
        drop(taken);
        let metrics = &self.shared.metrics;
        metrics.update(|update| update.lower(Gauge::ApiConnections, 1.0));
    }
}

/// Who counts as one: an IPv4 address, or the network that one IPv6 client has to itself.
fn client(peer: IpAddr) -> IpAddr {
    match peer {
        IpAddr::V4(_) => peer,
        IpAddr::V6(address) => Ipv6Net::new(address, IPV6_CLIENT_PREFIX)
            .map_or(peer, |network| network.network().into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(text: &str) -> IpAddr {
        text.parse().unwrap()
    }

    async fn take(places: &Places, peer: &str) -> Option<Place> {
        places.take(places.free().await.unwrap(), address(peer))
    }

    #[tokio::test]
    async fn one_address_takes_its_part_and_leaves_the_rest() {
        let places = Places::new(vec!["10.0.0.0/8".parse().unwrap()], Metrics::new());
        let mut taken = Vec::new();
        for _ in 0..CONNECTIONS_OF_ONE_ADDRESS {
            taken.push(take(&places, "192.0.2.1").await.unwrap());
        }
        assert!(take(&places, "192.0.2.1").await.is_none());
        let other = take(&places, "192.0.2.2").await;
        assert!(other.is_some(), "another address is served");
        taken.pop();
        let again = take(&places, "192.0.2.1").await;
        assert!(again.is_some(), "a place that was given back");
        drop((taken, other, again));
        assert!(places.shared.taken().is_empty(), "nothing is left behind");
        assert_eq!(places.all.available_permits(), CONNECTIONS_AT_ONCE);
    }

    #[tokio::test]
    async fn a_trusted_proxy_may_have_more_than_one_address_may() {
        let places = Places::new(vec!["10.0.0.0/8".parse().unwrap()], Metrics::new());
        let mut taken = Vec::new();
        for _ in 0..=CONNECTIONS_OF_ONE_ADDRESS {
            taken.push(take(&places, "10.0.0.1").await.unwrap());
        }
    }

    #[test]
    fn an_ipv6_client_is_its_network() {
        assert_eq!(client(address("192.0.2.1")), address("192.0.2.1"));
        let (one, other) = (address("2001:db8:1:2::3"), address("2001:db8:1:2:ffff::4"));
        assert_eq!(client(one), client(other));
        assert_ne!(client(one), client(address("2001:db8:1:3::3")));
    }
}
