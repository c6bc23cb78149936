//! What can be told of the API without a database: nobody listens where the store looks for it.

use crate::admission;
use crate::config::{Config, Handles};
use crate::exchange::Exchange;
use crate::limits::{BODY_BYTES, REQUESTS_AT_ONCE};
use crate::router::{Access, Operation, operations};
use crate::state::Api;
use crate::token::{KeyRing, Keys, TokenKind};
use axum::body::{Body, to_bytes};
use axum::http::{HeaderMap, Method, Request, StatusCode, header};
use domain::time::Timestamp;
use futures_util::stream::poll_fn;
use ops::clock::Clock;
use ops::health::Health;
use ops::metrics::Metrics;
use serde_json::{Map, Value, json};
use std::convert::Infallible;
use std::net::Ipv4Addr;
use std::task::Poll;
use std::time::Duration;
use store::Store;
use tokio::sync::mpsc::unbounded_channel;
use tokio::task::JoinSet;
use tokio::time::timeout;

const NOW: Timestamp = Timestamp::from_seconds(1_700_000_000);
const BUILDING: &str = "/public-api/buildings/aaaaaaaa-0000-4000-8000-000000000000";

struct Fixture {
    exchange: Exchange,
    keys: KeyRing,
    clock: Clock,
    metrics: Metrics,
    _admitting: JoinSet<()>,
}

struct Answer {
    status: StatusCode,
    headers: HeaderMap,
    bytes: usize,
    body: Value,
}

impl Fixture {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let key_file = folder.path().join("keys");
        Keys::new_key_first(&key_file).unwrap();
        // What the file holds is known from here on; that it goes away does not matter.
        let keys = KeyRing::open(&key_file).unwrap();
        let clock = Clock::manual(NOW.micros());
        let metrics = Metrics::new();
        let handles = Handles {
            metrics: metrics.clone(),
            health: Health::new(),
            clock: clock.clone(),
        };
        let store = Store::open("postgres://nobody@127.0.0.1:1/none", 1).unwrap();
        let config = Config {
            keys: keys.clone(),
            tls: None,
            trusted_proxies: Vec::new(),
        };
        let api = Api::new(config, store, handles).unwrap();
        let mut admitting = JoinSet::new();
        admitting.spawn(admission::work(api.clone()));
        Self {
            exchange: Exchange::new(api),
            keys,
            clock,
            metrics,
            _admitting: admitting,
        }
    }

    fn token(&self, kind: TokenKind) -> String {
        self.keys.issue(kind, "ada", NOW).unwrap().token
    }

    async fn send(&self, request: Request<Body>) -> Answer {
        let response = self
            .exchange
            .answer(Ipv4Addr::LOCALHOST.into(), request)
            .await;
        let (parts, body) = response.into_parts();
        let bytes = to_bytes(body, usize::MAX).await.unwrap();
        Answer {
            status: parts.status,
            headers: parts.headers,
            bytes: bytes.len(),
            body: serde_json::from_slice(&bytes).unwrap_or(Value::Null),
        }
    }

    async fn get(&self, path: &str) -> Answer {
        self.send(Request::get(path).body(Body::empty()).unwrap())
            .await
    }

    async fn get_as(&self, path: &str, authorization: &str) -> Answer {
        let request = Request::get(path).header(header::AUTHORIZATION, authorization);
        self.send(request.body(Body::empty()).unwrap()).await
    }

    async fn log_in(&self, body: impl Into<Body>) -> Answer {
        self.send(
            Request::post("/public-api/token/")
                .body(body.into())
                .unwrap(),
        )
        .await
    }
}

impl Answer {
    fn header(&self, name: &str) -> &str {
        self.headers
            .get(name)
            .map_or("", |value| value.to_str().unwrap())
    }

    #[track_caller]
    fn is_problem(&self, status: u16, code: &str) {
        assert_eq!(
            (self.status.as_u16(), &self.body["code"]),
            (status, &json!(code))
        );
        assert_eq!(self.header("content-type"), "application/problem+json");
        assert_eq!(self.body["status"], json!(status));
        for name in ["type", "title", "detail"] {
            assert!(self.body[name].is_string(), "{name}: {}", self.body);
        }
        assert_eq!(
            self.body.get("errors").is_some(),
            status == 400,
            "{}",
            self.body
        );
        assert!(!self.header("x-request-id").is_empty());
    }
}

/// Every path of the table with a building in the place of its parameter.
fn paths() -> Vec<(String, Access)> {
    let building = BUILDING.rsplit('/').next().unwrap();
    let path = |it: Operation| (it.path.replace("{building}", building), it.access);
    operations().into_iter().map(path).collect()
}

#[test]
fn an_operation_below_a_building_is_for_its_members_and_no_other_names_one() {
    for operation in operations() {
        let below = operation
            .path
            .starts_with("/public-api/buildings/{building}/");
        let named = operation.path.contains("{building}");
        let members_only = operation.access == Access::Building;
        assert!(
            below == named && named == members_only,
            "{}",
            operation.path
        );
        assert!(operation.path.ends_with('/'), "{}", operation.path);
    }
}

#[test]
fn only_what_the_interface_exempts_is_open() {
    let exempt = [
        "/public-api/token/",
        "/public-api/token/refresh/",
        "/public-api/openapi.json/",
        "/public-api/docs/",
    ];
    for (path, access) in paths() {
        let is_exempt = exempt.iter().any(|it| path.starts_with(it));
        assert_eq!(access == Access::Open, is_exempt, "{path}");
    }
}

#[tokio::test]
async fn without_a_token_every_path_that_is_not_open_is_401_on_every_method() {
    let fixture = Fixture::new();
    let mut closed: Vec<String> = ["/", "/public-api/", "/public-api/nothing/", "/nothing/"]
        .map(str::to_owned)
        .into();
    closed.extend(["", "/", "/nothing/"].map(|rest| format!("{BUILDING}{rest}")));
    let of_table = paths().into_iter().filter(|it| it.1 != Access::Open);
    closed.extend(of_table.map(|it| it.0));
    for path in closed {
        for path in [path.trim_end_matches('/'), &path] {
            for method in ["GET", "POST", "DELETE", "PUT", "PATCH", "OPTIONS", "BREW"] {
                let request = Request::builder().method(method).uri(path);
                let Ok(request) = request.body(Body::empty()) else {
                    assert!(path.is_empty());
                    continue;
                };
                let answer = fixture.send(request).await;
                answer.is_problem(401, "not_authenticated");
                assert_eq!(answer.header("www-authenticate"), "Bearer", "{path}");
                assert_eq!(answer.header("allow"), "", "{path}");
            }
        }
    }
}

#[tokio::test]
async fn only_an_access_token_that_is_worth_something_is_taken() {
    let fixture = Fixture::new();
    let path = format!("{BUILDING}/sensors/");
    let access = fixture.token(TokenKind::Access);
    let check = async |authorization: String, status, code| {
        let answer = fixture.get_as(&path, &authorization).await;
        answer.is_problem(status, code);
        assert_eq!(answer.header("www-authenticate"), "Bearer");
    };
    check(format!("Basic {access}"), 401, "not_authenticated").await;
    check(access.clone(), 401, "not_authenticated").await;
    check("Bearer".to_owned(), 401, "not_authenticated").await;
    check("Bearer nonsense".to_owned(), 401, "token_not_valid").await;
    check(format!("Bearer {access}x"), 401, "token_not_valid").await;
    let refresh = fixture.token(TokenKind::Refresh);
    check(format!("Bearer {refresh}"), 401, "token_not_valid").await;
    fixture.clock.advance(Duration::from_secs(15 * 60));
    check(format!("Bearer {access}"), 401, "token_not_valid").await;
}

#[tokio::test]
async fn a_method_that_an_open_path_has_not_is_405_with_allow() {
    let fixture = Fixture::new();
    for path in ["/public-api/token", "/public-api/token/refresh/"] {
        let answer = fixture.get(path).await;
        answer.is_problem(405, "method_not_allowed");
        assert_eq!(answer.header("allow"), "POST");
    }
}

#[tokio::test]
async fn what_is_no_refresh_token_is_401_and_what_is_no_string_400() {
    let fixture = Fixture::new();
    let check = async |body: Value, status, code| {
        let request = Request::post("/public-api/token/refresh/");
        let request = request.body(Body::from(body.to_string())).unwrap();
        fixture.send(request).await.is_problem(status, code);
    };
    check(json!({"refresh": "x"}), 401, "token_not_valid").await;
    check(json!({"refresh": ""}), 401, "token_not_valid").await;
    check(json!({"refresh": "a.b.c\u{0}"}), 401, "token_not_valid").await;
    let access = fixture.token(TokenKind::Access);
    check(json!({"refresh": access}), 401, "token_not_valid").await;
    for wrong in [json!(null), json!(5), json!(["x"])] {
        check(json!({"refresh": wrong}), 400, "invalid").await;
    }
    check(json!({}), 400, "invalid").await;
    check(json!({"token": "x"}), 400, "invalid").await;
    check(json!({"refresh": "x", "more": 1}), 400, "invalid").await;
    // Right in itself; whether it was used, the database would have to tell.
    let refresh = fixture.token(TokenKind::Refresh);
    check(json!({"refresh": refresh}), 503, "unavailable").await;
}

#[tokio::test]
async fn a_login_that_breaks_rules_is_told_all_of_them() {
    let fixture = Fixture::new();
    let check = async |body: &str, errors: &[(&str, &str)]| {
        let answer = fixture.log_in(body.to_owned()).await;
        answer.is_problem(400, "invalid");
        let told: Vec<_> = answer.body["errors"].as_array().unwrap().iter().collect();
        let told: Vec<_> = told.iter().map(|it| (&it["field"], &it["code"])).collect();
        let errors: Vec<_> = errors.iter().map(|(f, c)| (json!(f), json!(c))).collect();
        let errors: Vec<_> = errors.iter().map(|(f, c)| (f, c)).collect();
        assert_eq!(told, errors, "{body}");
    };
    check("", &[("", "not_json")]).await;
    check("{", &[("", "not_json")]).await;
    check("[]", &[("", "not_an_object")]).await;
    check(
        "{}",
        &[("/username", "required"), ("/password", "required")],
    )
    .await;
    check(
        r#"{"username": 1, "password": "x", "otp": 5}"#,
        &[("/username", "not_a_string"), ("/otp", "unknown_property")],
    )
    .await;
    check(
        r#"{"username": 1e400, "password": "x", "otp": {"$serde_json::private::RawValue": "5"}}"#,
        &[("/username", "not_a_string"), ("/otp", "unknown_property")],
    )
    .await;
    check(
        r#"{"$serde_json::private::RawValue": "5", "username": "x", "password": "x"}"#,
        &[("/$serde_json::private::RawValue", "unknown_property")],
    )
    .await;
}

#[tokio::test]
async fn an_answer_lists_a_thousand_broken_rules_at_most() {
    let fixture = Fixture::new();
    let check = async |properties: usize, listed: usize| {
        let body: Map<_, _> = (0..properties)
            .map(|it| (it.to_string(), json!(1)))
            .collect();
        let answer = fixture.log_in(Value::from(body).to_string()).await;
        answer.is_problem(400, "invalid");
        assert_eq!(answer.body["errors"].as_array().unwrap().len(), listed);
    };
    // The name and the password are not there, which is told first.
    check(998, 1_000).await;
    check(5_000, 1_000).await;
}

#[tokio::test]
async fn a_body_over_64_kib_is_413() {
    let fixture = Fixture::new();
    let answer = fixture.log_in(vec![b' '; BODY_BYTES + 1]).await;
    answer.is_problem(413, "body_too_large");
    let answer = fixture.log_in(vec![b' '; BODY_BYTES]).await;
    answer.is_problem(400, "invalid");
}

#[tokio::test]
async fn bodies_that_come_slowly_keep_nobody_from_an_answer() {
    let fixture = Fixture::new();
    let (begun, mut waits) = unbounded_channel();
    let mut slow = JoinSet::new();
    for _ in 0..600 {
        let (exchange, begun) = (fixture.exchange.clone(), begun.clone());
        slow.spawn(async move {
            let body = poll_fn(move |_| {
                begun.send(()).unwrap();
                Poll::<Option<Result<&str, Infallible>>>::Pending
            });
            let request = Request::post("/public-api/token/");
            let request = request.body(Body::from_stream(body)).unwrap();
            exchange.answer(Ipv4Addr::LOCALHOST.into(), request).await
        });
    }
    // As many as there are places, at least.
    for _ in 0..REQUESTS_AT_ONCE {
        waits.recv().await.unwrap();
    }
    let answer = fixture.get("/public-api/buildings/");
    let answer = timeout(Duration::from_secs(3), answer).await;
    let answer = answer.expect("kept waiting by bodies of others");
    answer.is_problem(401, "not_authenticated");
    while let Some(answer) = slow.join_next().await {
        assert_eq!(answer.unwrap().status(), StatusCode::REQUEST_TIMEOUT);
    }
}

#[tokio::test]
async fn a_database_that_is_away_is_503_with_retry_after() {
    let fixture = Fixture::new();
    let bearer = format!("Bearer {}", fixture.token(TokenKind::Access));
    let path = format!("{BUILDING}/sensors");
    let answer = fixture.get_as(&path, &bearer).await;
    answer.is_problem(503, "unavailable");
    assert_eq!(answer.header("retry-after"), "2");
    let rendered = fixture.metrics.render();
    assert!(
        rendered.contains(r#"wattline_api_requests_total{status="5xx"} 1"#),
        "{rendered}"
    );
    assert!(
        rendered.contains("wattline_api_request_seconds_count 1"),
        "{rendered}"
    );
}

#[tokio::test]
async fn a_sane_request_id_is_kept_and_another_one_is_replaced() {
    let fixture = Fixture::new();
    let send = async |id: &str| {
        let request = Request::get("/nothing/").header("x-request-id", id);
        let answer = fixture.send(request.body(Body::empty()).unwrap()).await;
        answer.header("x-request-id").to_owned()
    };
    assert_eq!(send("a-b_c.9").await, "a-b_c.9");
    for odd in ["", "a b", "{}", &"x".repeat(129)] {
        let id = send(odd).await;
        assert_ne!(id, odd);
        assert_eq!(id.len(), 36, "{id}");
    }
}

#[tokio::test]
async fn a_head_request_has_no_body_whatever_the_answer() {
    let fixture = Fixture::new();
    let request = Request::builder()
        .method(Method::HEAD)
        .uri("/public-api/buildings/");
    let answer = fixture.send(request.body(Body::empty()).unwrap()).await;
    assert_eq!((answer.status.as_u16(), answer.bytes), (401, 0));
}
