//! Connections: taken one by one, each a task of its own that is waited for at the end.

mod conversation;
mod patience;
mod places;

use crate::exchange::Exchange;
use crate::limits::DRAIN_TIMEOUT;
use crate::tls::Tls;
use conversation::converse;
use ipnet::IpNet;
use ops::metrics::{Counter, Metrics};
use ops::retry::Backoff;
use ops::shutdown::Shutdown;
use places::{Place, Places};
use std::io;
use std::net::IpAddr;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::{JoinError, JoinSet};
use tokio::time::{sleep, timeout};

/// What decides who may connect, and how.
pub(crate) struct Door {
    /// Speaks HTTPS with it, HTTP without.
    pub(crate) tls: Option<Tls>,
    /// These may have more connections than others.
    pub(crate) trusted_proxies: Vec<IpNet>,
    /// Counts connections.
    pub(crate) metrics: Metrics,
}

/// Serves until `shutdown`, then lets what is in flight end, for at most [`DRAIN_TIMEOUT`].
pub(crate) async fn serve(
    listener: TcpListener,
    door: Door,
    exchange: Exchange,
    shutdown: &Shutdown,
) {
    let places = Places::new(door.trusted_proxies, door.metrics.clone());
    let mut connections = JoinSet::new();
    let mut backoff = Backoff::default();
    loop {
        tokio::select! {
            () = shutdown.requested() => break,
            Some(ended) = connections.join_next() => report(ended),
            accepted = accept(&listener, &places) => match accepted {
                Ok((stream, peer, Some(place))) => {
                    backoff.reset();
                    let acceptor = door.tls.as_ref().map(Tls::acceptor);
                    let (exchange, shutdown) = (exchange.clone(), shutdown.clone());
                    connections.spawn(async move {
                        converse(stream, acceptor, peer, exchange, &shutdown).await;
                        drop(place);
                    });
                }
                Ok((_, peer, None)) => {
                    door.metrics.update(|update| update.add(Counter::ApiRefusedConnections, 1));
                    tracing::debug!(%peer, "closed a connection: its address has too many");
                }
                Err(error) => {
                    // Usually too many open files: connections that end make room.
                    tracing::warn!(%error, "cannot accept connections");
                    sleep(backoff.next_wait()).await;
                }
            },
        }
    }
    drop(listener);
    drain(connections).await;
}

/// The next connection, and a place for it unless its address has too many.
async fn accept(
    listener: &TcpListener,
    places: &Places,
) -> io::Result<(TcpStream, IpAddr, Option<Place>)> {
    let free = places.free().await?;
    let (stream, peer) = listener.accept().await?;
    let peer = peer.ip().to_canonical();
    // Answers are small and whole: waiting for more to send would only delay them.
    stream.set_nodelay(true)?;
    Ok((stream, peer, places.take(free, peer)))
}

async fn drain(mut connections: JoinSet<()>) {
    let all = async {
        while let Some(ended) = connections.join_next().await {
            report(ended);
        }
    };
    if timeout(DRAIN_TIMEOUT, all).await.is_err() {
        tracing::warn!(
            connections = connections.len(),
            "cut off what was still in flight"
        );
        connections.shutdown().await;
    }
}

fn report(ended: Result<(), JoinError>) {
    if let Err(error) = ended {
        tracing::error!(%error, "a connection's task failed");
    }
}
