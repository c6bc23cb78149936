//! What every request and every answer goes through, outside of the router.

use crate::admission::ToldBudget;
use crate::error::{Problem, complete};
use crate::extract::ClientAddress;
use crate::forwarded::client_address;
use crate::limits::{HTTPS_ONLY, REQUEST_ID_BYTES, REQUEST_TIMEOUT, REQUESTS_AT_ONCE};
use crate::router::router;
use crate::state::Api;
use crate::turn::Turn;
use axum::body::Body;
use axum::extract::Request;
use axum::http::uri::PathAndQuery;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use axum::{Router, http};
use futures_util::FutureExt;
use ops::metrics::{Counter, Histogram, Metrics};
use std::net::IpAddr;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Instant;
use tokio::sync::Semaphore;
use tokio::time::timeout;
use tower::ServiceExt;
use uuid::Uuid;

const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// The whole API as one function from request to answer; cheap to clone.
#[derive(Clone)]
pub(crate) struct Exchange {
    router: Router,
    api: Api,
    places: Arc<Semaphore>,
}

impl Exchange {
    pub(crate) fn new(api: Api) -> Self {
        Self {
            router: router(api.clone()),
            api,
            places: Arc::new(Semaphore::new(REQUESTS_AT_ONCE)),
        }
    }

    /// Answers, whatever happens, a request that came over a connection from `peer`.
    pub(crate) async fn answer(&self, peer: IpAddr, mut request: Request) -> Response {
        let started = Instant::now();
        let client = client_address(peer, request.headers(), &self.api.trusted_proxies);
        let request_id = request_id(request.headers());
        request.extensions_mut().insert(ClientAddress(client));
        let budget = ToldBudget::default();
        request.extensions_mut().insert(budget.clone());
        let without_body = request.method() == Method::HEAD;
        let response = match timeout(REQUEST_TIMEOUT, self.route(with_slash(request))).await {
            Ok(response) => response,
            Err(_) => Problem::Unavailable("no answer in time".to_owned()).into_response(),
        };
        let mut response = complete(response, &request_id);
        if without_body {
            *response.body_mut() = Body::empty();
        }
        let headers = response.headers_mut();
        if let Ok(value) = HeaderValue::from_str(&request_id) {
            headers.insert(REQUEST_ID, value);
        }
        budget.write(headers);
        // Tokens and readings are nothing for a cache on the way.
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
        if self.api.https {
            let https_only = HeaderValue::from_static(HTTPS_ONLY);
            headers.insert(header::STRICT_TRANSPORT_SECURITY, https_only);
        }
        count(&self.api.metrics, response.status(), started);
        response
    }

    async fn route(&self, mut request: Request) -> Response {
        // Held here to the end; whoever waits for the body steps aside meanwhile.
        let turn = match Turn::wait(Arc::clone(&self.places)).await {
            Ok(turn) => turn,
            Err(problem) => return problem.into_response(),
        };
        request.extensions_mut().insert(turn.clone());
        let answer = self.router.clone().oneshot(request);
        let response = match AssertUnwindSafe(answer).catch_unwind().await {
            Ok(Ok(response)) => response,
            Ok(Err(never)) => match never {},
            Err(_) => Problem::Internal("a handler panicked".to_owned()).into_response(),
        };
        drop(turn);
        response
    }
}

/// The id that came with the request, if it is one that is fit for headers and log lines, or a new one.
fn request_id(headers: &HeaderMap) -> String {
    let given = headers
        .get(REQUEST_ID)
        .and_then(|value| value.to_str().ok());
    let sane = |id: &&str| {
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
        (1..=REQUEST_ID_BYTES).contains(&id.len()) && id.bytes().all(plain)
    };
    given
        .filter(sane)
        .map_or_else(|| Uuid::new_v4().to_string(), str::to_owned)
}

/// A path without its last slash is answered like the one with it.
fn with_slash(mut request: Request) -> Request {
    let path = request.uri().path();
    if path.starts_with('/')
        && !path.ends_with('/')
        && let Ok(uri) = slashed(request.uri())
    {
        *request.uri_mut() = uri;
    }
    request
}

fn slashed(uri: &Uri) -> Result<Uri, http::Error> {
    let path = uri.path();
    let path_and_query = match uri.query() {
        Some(query) => format!("{path}/?{query}"),
        None => format!("{path}/"),
    };
    let mut parts = uri.clone().into_parts();
    parts.path_and_query = Some(PathAndQuery::try_from(path_and_query)?);
    Ok(Uri::from_parts(parts)?)
}

fn count(metrics: &Metrics, status: StatusCode, started: Instant) {
    let class = match status.as_u16() / 100 {
        1 => "1xx",
        2 => "2xx",
        3 => "3xx",
        4 => "4xx",
        _ => "5xx",
    };
    metrics.update(|update| {
        update.add_labelled(Counter::ApiRequests, class, 1);
        update.observe(
            Histogram::ApiRequestSeconds,
            started.elapsed().as_secs_f64(),
        );
    });
}
