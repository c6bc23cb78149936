//! One connection, from its handshake to its end.

use super::patience::{Activity, Patient};
use crate::exchange::Exchange;
use crate::limits::{
    HANDSHAKE_TIMEOUT, HEAD_BYTES, HEAD_READ_TIMEOUT, HEADERS, LAST_REQUEST_WAIT, WRITE_TIMEOUT,
};
use axum::body::Body;
use axum::http;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use ops::shutdown::Shutdown;
use std::convert::Infallible;
use std::net::IpAddr;
use std::pin::pin;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::time::{sleep, timeout};
use tokio_rustls::TlsAcceptor;

/// Answers on the connection until it ends, or for as long as a request is in flight after `shutdown`.
pub(super) async fn converse(
    stream: TcpStream,
    acceptor: Option<TlsAcceptor>,
    peer: IpAddr,
    exchange: Exchange,
    shutdown: &Shutdown,
) {
    let Some(acceptor) = acceptor else {
        return answer(stream, peer, exchange, shutdown).await;
    };
    let handshake = timeout(HANDSHAKE_TIMEOUT, acceptor.accept(stream));
    let shaken = tokio::select! {
        shaken = handshake => shaken,
        () = shutdown.requested() => return,
    };
    match shaken {
        Ok(Ok(stream)) => answer(stream, peer, exchange, shutdown).await,
        Ok(Err(error)) => tracing::debug!(%error, "no handshake"),
        Err(_) => tracing::debug!("no handshake in time"),
    }
}

async fn answer(
    stream: impl AsyncRead + AsyncWrite + Unpin,
    peer: IpAddr,
    exchange: Exchange,
    shutdown: &Shutdown,
) {
    let activity = Activity::default();
    let works = activity.clone();
    let service = service_fn(move |request: http::Request<Incoming>| {
        let (exchange, works) = (exchange.clone(), works.clone());
        async move {
            works.working(true);
            let response = exchange.answer(peer, request.map(Body::new)).await;
            works.working(false);
            Ok::<_, Infallible>(response)
        }
    });
    let stream = TokioIo::new(Patient::new(stream, activity.clone(), WRITE_TIMEOUT));
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_READ_TIMEOUT)
        .max_buf_size(HEAD_BYTES)
        .max_headers(HEADERS)
        .serve_connection(stream, service);
    let mut connection = pin!(connection);
    let ended = tokio::select! {
        ended = connection.as_mut() => ended,
        () = shutdown.requested() => {
            connection.as_mut().graceful_shutdown();
            tokio::select! {
                ended = connection => ended,
                () = idle(&activity) => Ok(()),
            }
        }
    };
    if let Err(error) = ended {
        tracing::debug!(%error, "connection ended early");
    }
}

/// Waits until nothing is in flight. A connection that is told to end would by itself still wait for
/// its first request.
async fn idle(activity: &Activity) {
    loop {
        sleep(LAST_REQUEST_WAIT).await;
        if !activity.is_busy() {
            return;
        }
    }
}
