//! `/metrics`, `/health/live` and `/health/ready` of a process, on a port of their own.

use crate::clock::Clock;
use crate::health::{Health, Report};
use crate::metrics::{Gauge, Metrics};
use crate::shutdown::{GRACE, Shutdown};
use axum::Router;
use axum::extract::State;
use axum::http::StatusCode;
use axum::http::header::CONTENT_TYPE;
use axum::response::IntoResponse;
use axum::routing::get;
use serde_json::{Map, Value, json};
use std::io;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::time::{MissedTickBehavior, interval, sleep};

/// The exposition format of [`Metrics::render`].
const METRICS_TYPE: &str = "text/plain; version=0.0.4; charset=utf-8";

/// How often observations are folded into their buckets when nobody scrapes: memory grows by one
/// interval's observations at most.
const COMPACT_EVERY: Duration = Duration::from_secs(5);

#[derive(Clone)]
struct Observed {
    metrics: Metrics,
    health: Health,
}

/// Answers on `listener` until the stop is wanted; requests in flight then have [`GRACE`] to end.
///
/// # Errors
/// The listener failed.
pub async fn serve_operations(
    listener: TcpListener,
    metrics: Metrics,
    health: Health,
    shutdown: Shutdown,
) -> Result<(), io::Error> {
    tell_process(&metrics);
    let log = health.clone();
    let router = router(Observed {
        metrics: metrics.clone(),
        health,
    });
    let requested = shutdown.clone();
    let server = axum::serve(listener, router)
        .with_graceful_shutdown(async move { requested.requested().await });
    tokio::select! {
        served = server.into_future() => served,
        () = keep_up(metrics, &log) => Ok(()),
        () = grace_after(&shutdown) => Ok(()),
    }
}

fn router(observed: Observed) -> Router {
    Router::new()
        .route("/metrics", get(scrape))
        .route("/health/live", get(live))
        .route("/health/ready", get(ready))
        .with_state(observed)
}

async fn scrape(State(observed): State<Observed>) -> impl IntoResponse {
    let report = observed.health.report();
    let value = |holds| if holds { 1.0 } else { 0.0 };
    observed.metrics.update(|update| {
        update.set(Gauge::Ready, value(report.ready));
        for name in &report.names {
            let broken = report.causes.iter().any(|(cause, _)| cause == name);
            update.set_labelled(Gauge::ConditionReady, name, value(!broken));
        }
    });
    ([(CONTENT_TYPE, METRICS_TYPE)], observed.metrics.render())
}

/// That it answers is what it tells: the process turns its loop.
async fn live() -> StatusCode {
    StatusCode::OK
}

async fn ready(State(observed): State<Observed>) -> impl IntoResponse {
    let report = observed.health.report();
    let status = if report.ready {
        StatusCode::OK
    } else {
        StatusCode::SERVICE_UNAVAILABLE
    };
    (status, axum::Json(body(report)))
}

fn body(report: Report) -> Value {
    let mut conditions: Map<String, Value> = Map::new();
    for name in report.names {
        conditions.insert(name.to_owned(), json!("ready"));
    }
    for (name, cause) in report.causes {
        conditions.insert(name, json!(cause));
    }
    json!({ "ready": report.ready, "conditions": conditions })
}

/// Which binary this is, and since when it runs.
fn tell_process(metrics: &Metrics) {
    #[expect(
        clippy::cast_precision_loss,
        reason = "microseconds of this century are below 2^53"
    )]
    let now = Clock::system().now_micros() as f64 / 1e6;
    metrics.update(|update| {
        update.set(Gauge::StartTimeSeconds, now);
        update.set_labelled(Gauge::BuildInfo, env!("CARGO_PKG_VERSION"), 1.0);
    });
}

async fn keep_up(metrics: Metrics, health: &Health) {
    let mut ticks = interval(COMPACT_EVERY);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        ticks.tick().await;
        metrics.compact();
        health.catch_up_log();
    }
}

async fn grace_after(shutdown: &Shutdown) {
    shutdown.requested().await;
    sleep(GRACE).await;
}

#[cfg(test)]
mod tests;
