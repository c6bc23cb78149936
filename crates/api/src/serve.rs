//! Connections: taken one by one, each a task of its own that is waited for at the end.

use crate::exchange::Exchange;
use crate::limits::{
    CONNECTIONS_AT_ONCE, DRAIN_TIMEOUT, HEAD_BYTES, HEAD_READ_TIMEOUT, HEADERS, LAST_REQUEST_WAIT,
};
use axum::body::Body;
use axum::http;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use ops::retry::Backoff;
use ops::shutdown::Shutdown;
use std::convert::Infallible;
use std::io;
use std::net::IpAddr;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::{JoinError, JoinSet};
use tokio::time::{sleep, timeout};

/// Serves until `shutdown`, then lets what is in flight end, for at most [`DRAIN_TIMEOUT`].
pub(crate) async fn serve(listener: TcpListener, exchange: Exchange, shutdown: &Shutdown) {
    let places = Arc::new(Semaphore::new(CONNECTIONS_AT_ONCE));
    let mut connections = JoinSet::new();
    let mut backoff = Backoff::default();
    loop {
        tokio::select! {
            () = shutdown.requested() => break,
            Some(ended) = connections.join_next() => report(ended),
            accepted = accept(&listener, &places) => match accepted {
                Ok((stream, peer, place)) => {
                    backoff.reset();
                    let (exchange, shutdown) = (exchange.clone(), shutdown.clone());
                    connections.spawn(async move {
                        converse(stream, peer, exchange, &shutdown).await;
                        drop(place);
                    });
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

async fn accept(
    listener: &TcpListener,
    places: &Arc<Semaphore>,
) -> io::Result<(TcpStream, IpAddr, OwnedSemaphorePermit)> {
    let place = Arc::clone(places)
        .acquire_owned()
        .await
        .map_err(io::Error::other)?;
    let (stream, peer) = listener.accept().await?;
    // Answers are small and whole: waiting for more to send would only delay them.
    stream.set_nodelay(true)?;
    Ok((stream, peer.ip(), place))
}

async fn converse(stream: TcpStream, peer: IpAddr, exchange: Exchange, shutdown: &Shutdown) {
    let busy = Arc::new(AtomicBool::new(false));
    let works = Arc::clone(&busy);
    let service = service_fn(move |request: http::Request<Incoming>| {
        let (exchange, works) = (exchange.clone(), Arc::clone(&works));
        async move {
            works.store(true, Ordering::Relaxed);
            let response = exchange.answer(peer, request.map(Body::new)).await;
            works.store(false, Ordering::Relaxed);
            Ok::<_, Infallible>(response)
        }
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_READ_TIMEOUT)
        .max_buf_size(HEAD_BYTES)
        .max_headers(HEADERS)
        .serve_connection(TokioIo::new(stream), service);
    let mut connection = pin!(connection);
    let ended = tokio::select! {
        ended = connection.as_mut() => ended,
        () = shutdown.requested() => {
            connection.as_mut().graceful_shutdown();
            tokio::select! {
                ended = connection => ended,
                () = idle(&busy) => Ok(()),
            }
        }
    };
    if let Err(error) = ended {
        tracing::debug!(%error, "connection ended early");
    }
}

/// Waits until no request is worked on. A connection that is told to end would by itself still wait
/// for its first request.
async fn idle(busy: &AtomicBool) {
    loop {
        sleep(LAST_REQUEST_WAIT).await;
        if !busy.load(Ordering::Relaxed) {
            return;
        }
    }
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
