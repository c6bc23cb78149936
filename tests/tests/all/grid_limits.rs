//! The grid limit schedule over a real database, at the second.

#[path = "grid_limits/deletion.rs"]
mod deletion;
#[path = "grid_limits/listing.rs"]
mod listing;

use crate::WATTLINE;
use serde_json::{Value, json};
use testkit::{
    Answer, ApiUnderClock, BuildingPlan, Client, Method, Mode, PASSWORD, USERNAME, World,
};
use uuid::Uuid;

/// A quarter hour, 2023-11-14T12:00:00Z.
const QUARTER: i64 = 1_699_963_200;
/// 00:00 UTC of its day.
const MIDNIGHT: i64 = 1_699_920_000;

struct Fixture {
    world: World,
    api: ApiUnderClock,
    client: Client,
    building: Uuid,
}

impl Fixture {
    /// An operator's building, and an api whose clock stands at `now`.
    async fn at(now: i64) -> Self {
        let world = World::new(WATTLINE, Mode::Direct).await;
        let building = world.building();
        // Logged in later than any test comes to, so that the token lasts wherever the clock is set.
        let api = ApiUnderClock::start(&world, now + 30 * 86_400).await;
        let client = api.client().login(USERNAME, PASSWORD).await;
        let fixture = Self {
            world,
            api,
            client,
            building,
        };
        fixture.set_clock(now);
        fixture
    }

    fn set_clock(&self, seconds: i64) {
        self.api.clock.set_micros(seconds * 1_000_000);
    }

    fn schedule(&self) -> String {
        schedule(self.building)
    }

    async fn create(&self, start: i64, end: i64) -> Answer {
        let body = creation(start, end);
        self.client
            .send(Method::POST, &self.schedule(), Some(&body))
            .await
    }

    async fn created(&self, start: i64) -> String {
        let answer = self.create(start, start + 900).await;
        assert_eq!(answer.status, 201, "{}", answer.text);
        uuid(&answer.body)
    }

    async fn delete(&self, grid_limit: &str) -> Answer {
        let path = format!("{}{grid_limit}/", self.schedule());
        self.client.send(Method::DELETE, &path, None).await
    }

    async fn bulk_delete(&self, body: &Value) -> Answer {
        let path = format!("{}bulk-delete/", self.schedule());
        self.client.send(Method::POST, &path, Some(body)).await
    }

    async fn stored(&self) -> i64 {
        self.world.count("select count(*) from grid_limit").await
    }
}

fn schedule(building: Uuid) -> String {
    format!("/buildings/{building}/schedules/grid_limits/")
}

fn creation(start: i64, end: i64) -> Value {
    json!({"start_timestamp": start, "end_timestamp": end,
           "delivery_limit_watts": 10_000, "return_delivery_limit_watts": 0})
}

fn uuid(occurrence: &Value) -> String {
    occurrence["grid_limit_uuid"].as_str().unwrap().to_owned()
}

#[track_caller]
fn breaks(answer: &Answer, expected: &[(&str, &str)]) {
    assert_eq!(answer.status, 400, "{}", answer.text);
    assert_eq!(answer.code(), "invalid");
    let told = answer.violations();
    let told: Vec<_> = told.iter().map(|(f, c)| (f.as_str(), c.as_str())).collect();
    assert_eq!(told, expected, "{}", answer.text);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_occurrence_is_created_read_listed_and_deleted() {
    let fixture = Fixture::at(QUARTER - 3600).await;
    let answer = fixture.create(QUARTER, QUARTER + 1800).await;
    assert_eq!(answer.status, 201, "{}", answer.text);
    let uuid = uuid(&answer.body);
    let expected = json!({
        "grid_limit_uuid": uuid, "start_time": QUARTER, "end_time": QUARTER + 1800,
        "delivery_limit_watts": 10_000, "return_delivery_limit_watts": 0,
    });
    assert_eq!(answer.body, expected);
    let path = format!("{}{uuid}/", fixture.schedule());
    assert_eq!(answer.header("location"), format!("/public-api{path}"));
    assert_eq!(fixture.client.get(&path).await, (200, expected.clone()));
    let upper = format!("{}{}/", fixture.schedule(), uuid.to_uppercase());
    assert_eq!(fixture.client.get(&upper).await, (200, expected.clone()));
    assert_eq!(
        fixture.client.get(&fixture.schedule()).await,
        (200, json!([expected]))
    );
    let deleted = fixture.delete(&uuid).await;
    assert_eq!((deleted.status, deleted.text.as_str()), (204, ""));
    assert_eq!(fixture.client.get(&path).await.0, 404);
    assert_eq!(fixture.delete(&uuid).await.status, 404);
    assert_eq!(
        fixture.client.get(&fixture.schedule()).await,
        (200, json!([]))
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn an_occurrence_may_start_in_a_quarter_of_an_hour_and_not_a_second_before() {
    let fixture = Fixture::at(QUARTER - 901).await;
    let last = QUARTER - 900;
    for (now, status) in [
        (last - 1, 201),
        (last, 201),
        (last + 1, 400),
        (QUARTER, 400),
    ] {
        fixture.set_clock(now);
        let answer = fixture.create(QUARTER, QUARTER + 900).await;
        assert_eq!(answer.status, status, "{now}: {}", answer.text);
        if status == 400 {
            breaks(&answer, &[("/start_timestamp", "too_early")]);
        }
    }
    fixture.api.clock.set_micros(last * 1_000_000 + 1);
    let answer = fixture.create(QUARTER, QUARTER + 900).await;
    breaks(&answer, &[("/start_timestamp", "too_early")]);
    assert_eq!(fixture.stored().await, 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_occurrence_ends_at_the_latest_at_midnight_eight_days_on() {
    let fixture = Fixture::at(MIDNIGHT - 1).await;
    let horizon = MIDNIGHT + 7 * 86_400;
    let ends = async |end| fixture.create(MIDNIGHT + 900, end).await;
    assert_eq!(ends(horizon).await.status, 201);
    breaks(
        &ends(horizon + 900).await,
        &[("/end_timestamp", "too_late")],
    );
    fixture.set_clock(MIDNIGHT);
    assert_eq!(ends(horizon + 86_400).await.status, 201);
    let answer = ends(horizon + 86_400 + 900).await;
    breaks(&answer, &[("/end_timestamp", "too_late")]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_creation_that_breaks_rules_is_told_all_of_them() {
    let fixture = Fixture::at(QUARTER - 900).await;
    let send = async |body: &str| fixture.client.post_bytes(&fixture.schedule(), body).await;
    let check = async |body: Value, expected: &[(&str, &str)]| {
        breaks(&send(&body.to_string()).await, expected);
    };
    let (start, end) = ("/start_timestamp", "/end_timestamp");
    let (delivery, back) = ("/delivery_limit_watts", "/return_delivery_limit_watts");
    let required = [start, end, delivery, back].map(|field| (field, "required"));
    check(json!({}), &required).await;
    let integer = [start, end, delivery, back].map(|field| (field, "not_an_integer"));
    let odd = json!({"start_timestamp": "1700000000", "end_timestamp": 0.5,
                     "delivery_limit_watts": null, "return_delivery_limit_watts": true});
    check(odd, &integer).await;
    let range = [start, end, delivery, back].map(|field| (field, "out_of_range"));
    let odd = json!({"start_timestamp": 1_700_000_000_000_i64, "end_timestamp": 1e300,
                     "delivery_limit_watts": 2_147_483_648_i64,
                     "return_delivery_limit_watts": -2_147_483_648_i64});
    check(odd, &range).await;
    let odd = json!({"start_timestamp": QUARTER - 1, "end_timestamp": QUARTER - 1,
                     "delivery_limit_watts": -1, "return_delivery_limit_watts": -2_147_483_647,
                     "name": "night", "a/b~": 1});
    let expected = [
        (start, "not_a_quarter_hour"),
        (start, "too_early"),
        (end, "not_a_quarter_hour"),
        (end, "not_after_start"),
        (delivery, "below_minimum"),
        (back, "below_minimum"),
        ("/name", "unknown_property"),
        ("/a~1b~0", "unknown_property"),
    ];
    check(odd, &expected).await;
    // What is missing hides no rule about what is there.
    let odd = json!({"end_timestamp": QUARTER + 30 * 86_400, "delivery_limit_watts": 0});
    check(
        odd,
        &[(start, "required"), (back, "required"), (end, "too_late")],
    )
    .await;
    for (body, code) in [
        ("", "not_json"),
        ("[", "not_json"),
        ("\u{feff}{}", "not_json"),
        ("[]", "not_an_object"),
        ("null", "not_an_object"),
        ("\"\\ud800\"", "not_json"),
        (&"[".repeat(60_000), "not_json"),
        (r#"{"start_timestamp": 1e400,}"#, "not_json"),
    ] {
        breaks(&send(body).await, &[("", code)]);
    }
    let beyond_doubles = r#"{"start_timestamp": -1e400, "delivery_limit_watts": 0}"#;
    breaks(
        &send(beyond_doubles).await,
        &[
            (start, "out_of_range"),
            (end, "required"),
            (back, "required"),
        ],
    );
    let answer = send(r#"{"start_timestamp\u0000": "\u0000"}"#).await;
    assert_eq!(answer.violations().len(), 5, "{}", answer.text);
    assert_eq!(fixture.stored().await, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn integers_are_those_of_json_schema_and_of_duplicate_keys_the_last_counts() {
    let fixture = Fixture::at(QUARTER - 900).await;
    let body = format!(
        r#"{{"delivery_limit_watts": -5, "start_timestamp": {QUARTER}.0, "end_timestamp": {}e2,
             "return_delivery_limit_watts": 2147483647, "delivery_limit_watts": -0.0}}"#,
        QUARTER / 100 + 9
    );
    let answer = fixture.client.post_bytes(&fixture.schedule(), body).await;
    assert_eq!(answer.status, 201, "{}", answer.text);
    let expected = json!({
        "grid_limit_uuid": uuid(&answer.body), "start_time": QUARTER, "end_time": QUARTER + 900,
        "delivery_limit_watts": 0, "return_delivery_limit_watts": 2_147_483_647,
    });
    assert_eq!(answer.body, expected);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_viewer_reads_but_does_not_act_and_a_foreign_schedule_does_not_exist() {
    let fixture = Fixture::at(QUARTER - 3600).await;
    let other = BuildingPlan::new();
    let user = |name: &str, building: Uuid, role: &str| {
        json!({"username": name, "password": PASSWORD,
               "buildings": [{"uuid": building, "role": role}]})
    };
    fixture.world.apply_fleet(&json!({
        "buildings": [{"uuid": other.uuid, "name": "Mill"}],
        "users": [user("bob", fixture.building, "viewer"), user("eve", other.uuid, "operator")],
    }));
    let limit = fixture.created(QUARTER).await;
    let one = format!("{}{limit}/", fixture.schedule());
    let bulk = format!("{}bulk-delete/", fixture.schedule());
    let uuids = json!({"grid_limit_uuids": [limit]});
    let bob = fixture.api.client().login("bob", PASSWORD).await;
    let eve = fixture.api.client().login("eve", PASSWORD).await;
    let create = creation(QUARTER, QUARTER + 900);
    let acts = [
        (Method::POST, fixture.schedule(), Some(&create)),
        (Method::POST, fixture.schedule(), None),
        (Method::POST, bulk, Some(&uuids)),
        (Method::DELETE, one.clone(), None),
    ];
    for (method, path, body) in acts {
        let answer = bob.send(method.clone(), &path, body).await;
        assert_eq!((answer.status, answer.code()), (403, "permission_denied"));
        assert_eq!(eve.send(method, &path, body).await.status, 404);
    }
    for path in [fixture.schedule(), one] {
        assert_eq!(bob.get(&path).await.0, 200);
        assert_eq!(eve.get(&path).await.0, 404);
    }
    // The occurrence is not one of her own building's either.
    let path = format!("{}{limit}/", schedule(other.uuid));
    assert_eq!(eve.get(&path).await.0, 404);
    assert_eq!(eve.send(Method::DELETE, &path, None).await.status, 404);
    let path = format!("{}bulk-delete/", schedule(other.uuid));
    assert_eq!(
        eve.send(Method::POST, &path, Some(&uuids)).await.status,
        404
    );
    assert_eq!(fixture.stored().await, 1);
}
