//! What can be told of the API without a database: nobody listens where the store looks for it.

use crate::config::{Config, Handles};
use crate::exchange::Exchange;
use crate::limits::BODY_BYTES;
use crate::state::Api;
use crate::token::{Keys, TokenKind};
use axum::body::{Body, to_bytes};
use axum::http::{HeaderMap, Method, Request, StatusCode, header};
use domain::time::Timestamp;
use ops::clock::Clock;
use ops::health::Health;
use ops::metrics::Metrics;
use serde_json::{Value, json};
use std::net::Ipv4Addr;
use std::time::Duration;
use store::Store;

const NOW: Timestamp = Timestamp::from_seconds(1_700_000_000);
const BUILDING: &str = "/public-api/buildings/aaaaaaaa-0000-4000-8000-000000000000";
const OF_BUILDING: [&str; 5] = [
    "/sensors/",
    "/electricity/actual/",
    "/electricity/latest/",
    "/electricity/sensors/actual/",
    "/electricity/sensors/latest/",
];

struct Fixture {
    exchange: Exchange,
    keys: Keys,
    clock: Clock,
    metrics: Metrics,
}

struct Answer {
    status: StatusCode,
    headers: HeaderMap,
    bytes: usize,
    body: Value,
}

impl Fixture {
    fn new() -> Self {
        let keys = Keys::parse(&Keys::generate_line().unwrap()).unwrap();
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
        Self {
            exchange: Exchange::new(api),
            keys,
            clock,
            metrics,
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

#[tokio::test]
async fn without_a_token_every_path_but_login_is_401() {
    let fixture = Fixture::new();
    let mut paths = vec!["/public-api/buildings/".to_owned()];
    paths.extend(OF_BUILDING.map(|path| format!("{BUILDING}{path}")));
    for path in paths {
        for path in [path.trim_end_matches('/'), &path] {
            let answer = fixture.get(path).await;
            answer.is_problem(401, "not_authenticated");
            assert_eq!(answer.header("www-authenticate"), "Bearer", "{path}");
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
async fn a_path_that_is_none_is_404_and_so_is_a_building_whose_uuid_is_none() {
    let fixture = Fixture::new();
    let bearer = format!("Bearer {}", fixture.token(TokenKind::Access));
    for path in ["/", "/public-api/"] {
        fixture.get(path).await.is_problem(404, "not_found");
    }
    for path in ["/public-api/nothing/", "/public-api//buildings/"] {
        fixture.get(path).await.is_problem(401, "not_authenticated");
        fixture
            .get_as(path, &bearer)
            .await
            .is_problem(404, "not_found");
    }
    for building in ["x", "aaaaaaaa00004000800000000000aaaa", "%ff", "%00"] {
        let path = format!("/public-api/buildings/{building}/sensors/");
        fixture
            .get(&path)
            .await
            .is_problem(401, "not_authenticated");
        fixture
            .get_as(&path, &bearer)
            .await
            .is_problem(404, "not_found");
    }
    let path = format!("{BUILDING}/nothing/");
    fixture
        .get_as(&path, &bearer)
        .await
        .is_problem(404, "not_found");
}

#[tokio::test]
async fn a_method_that_the_path_has_not_is_405_with_allow() {
    let fixture = Fixture::new();
    let answer = fixture.get("/public-api/token").await;
    answer.is_problem(405, "method_not_allowed");
    assert_eq!(answer.header("allow"), "POST");
    let bearer = format!("Bearer {}", fixture.token(TokenKind::Access));
    let mut paths = vec!["/public-api/buildings/".to_owned()];
    paths.extend(OF_BUILDING.map(|path| format!("{BUILDING}{path}")));
    for path in paths {
        let request = Request::delete(path).header("authorization", &bearer);
        let answer = fixture.send(request.body(Body::empty()).unwrap()).await;
        answer.is_problem(405, "method_not_allowed");
        assert_eq!(answer.header("allow"), "GET,HEAD");
    }
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
async fn a_database_that_is_away_is_503_with_retry_after() {
    let fixture = Fixture::new();
    let bearer = format!("Bearer {}", fixture.token(TokenKind::Access));
    let answer = fixture
        .get_as(&format!("{BUILDING}/sensors"), &bearer)
        .await;
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
