//! Actions over a real database: what is taken, what is refused and where that is told, who may act.

#[path = "actions/blocks.rs"]
mod blocks;
#[path = "actions/fixture.rs"]
mod fixture;
#[path = "actions/idempotency.rs"]
mod idempotency;
#[path = "actions/listing.rs"]
mod listing;
#[path = "actions/refusals.rs"]
mod refusals;

pub(crate) use fixture::Fixture;
use serde_json::{Value, json};
use testkit::{Answer, Method};
use uuid::Uuid;

/// 2023-11-14T12:00:00Z, at which a block starts one hour later: 13:00 in Amsterdam is none, 16:00 is.
const NOW: i64 = 1_699_963_200;
/// 16:00 in Amsterdam.
const BLOCK: i64 = NOW + 3 * 3600;
const HOUR: i64 = 3600;

fn path(building: Uuid) -> String {
    format!("/buildings/{building}/actions/")
}

fn planning(start: i64, stop: i64, enabled: bool) -> Value {
    json!({"fcr_planning": {"power": 100_000, "start_timestamp": start, "stop_timestamp": stop,
                            "enabled": enabled}})
}

fn charge(watts: i64) -> Value {
    json!({"battery_set_power_charge_watts": watts, "battery_set_power_timeout": 60})
}

/// Where the action is, as the client asks for it.
#[track_caller]
fn location(answer: &Answer) -> String {
    assert_eq!(
        (answer.status, answer.text.as_str()),
        (204, ""),
        "{}",
        answer.text
    );
    let location = answer.header("location");
    location.strip_prefix("/public-api").unwrap().to_owned()
}

#[track_caller]
fn breaks(answer: &Answer, expected: &[(&str, &str)]) {
    assert_eq!(answer.status, 400, "{}", answer.text);
    assert_eq!(answer.code(), "invalid");
    let told = answer.violations();
    let mut told: Vec<_> = told.iter().map(|(f, c)| (f.as_str(), c.as_str())).collect();
    let mut expected = expected.to_vec();
    told.sort_unstable();
    expected.sort_unstable();
    assert_eq!(told, expected, "{}", answer.text);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_action_of_each_family_is_taken_and_tells_its_fate() {
    let fixture = Fixture::at(NOW).await;
    for body in fixture.families() {
        let path = fixture.acted(&body).await;
        let (status, action) = fixture.ada.get(&path).await;
        assert_eq!(status, 200, "{body}: {action}");
        let uuid = path.trim_end_matches('/').rsplit('/').next().unwrap();
        assert_eq!(path, format!("{}{uuid}/", fixture.path()));
        assert_eq!(action["action_uuid"], uuid);
        assert_eq!(action["action"], body);
        assert_eq!(
            (&action["created_at"], &action["username"]),
            (&json!(NOW), &json!("ada"))
        );
        let first = json!({"status": "accepted", "at": NOW, "detail": "stored"});
        assert_eq!(action["history"][0], first, "{body}");
        assert_eq!(
            (&action["status"], &action["ended_at"]),
            (&json!("accepted"), &Value::Null)
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cancellation_of_what_is_not_there_is_taken_and_changes_nothing() {
    let fixture = Fixture::at(NOW).await;
    let before = fixture.desired().await["revision"].clone();
    for body in [
        json!({"grid_target_cancel": true}),
        planning(BLOCK, BLOCK + 4 * HOUR, false),
    ] {
        let path = fixture.acted(&body).await;
        assert_eq!(fixture.desired().await["revision"], before, "{body}");
        let (_, action) = fixture.ada.get(&path).await;
        assert_eq!(
            (&action["status"], &action["ended_at"]),
            (&json!("confirmed"), &json!(NOW))
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cancelled_grid_target_and_a_block_that_is_overwritten_are_superseded() {
    let fixture = Fixture::at(NOW).await;
    let target = json!({"grid_target_delivery_watts": 5_000, "grid_target_duration": 60});
    let check = async |first: &Value, second: &Value| {
        let path = fixture.acted(first).await;
        fixture.set_clock(NOW + 5);
        fixture.acted(second).await;
        let (_, action) = fixture.ada.get(&path).await;
        assert_eq!(
            (&action["status"], &action["ended_at"]),
            (&json!("superseded"), &json!(NOW + 5))
        );
        let statuses: Vec<_> = action["history"].as_array().unwrap().iter().collect();
        let statuses: Vec<_> = statuses.iter().map(|it| &it["status"]).collect();
        assert_eq!(statuses, ["accepted", "superseded"], "{first}");
        fixture.set_clock(NOW);
    };
    check(&target, &json!({"grid_target_cancel": true})).await;
    let plan = planning(BLOCK, BLOCK + 4 * HOUR, true);
    check(&plan, &plan).await;
    check(&plan, &planning(BLOCK, BLOCK + 4 * HOUR, false)).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_inverter_timeout_is_sticky_until_null_clears_it() {
    let fixture = Fixture::at(NOW).await;
    let check = async |body: Value, ends: bool| {
        fixture.acted(&body).await;
        let end = &fixture.desired().await["state"]["desired"]["inverters"]["end"];
        assert_eq!(end.is_null(), !ends, "{body}: {end}");
    };
    check(json!({"inverters_set_power_percentage": 50}), false).await;
    let timeout = json!({"inverters_set_power_percentage": 50, "inverters_set_power_timeout": 90});
    check(timeout, true).await;
    check(json!({"inverters_set_power_watts": 500}), true).await;
    let cleared = json!({"inverters_set_power_watts": 500, "inverters_set_power_timeout": null});
    check(cleared, false).await;
    check(json!({"inverters_set_power_percentage": 50}), false).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_action_is_told_as_it_was_sent() {
    let fixture = Fixture::at(NOW).await;
    for body in [
        "\n { \"battery_set_power_timeout\" : 6e1,\t\"battery_set_power_charge_watts\": -0.0 }\r\n",
        r#"{"battery_set_power_timeout": 60, "battery_set_power_charge_watts": "\u0000",
            "battery_set_power_charge_watts": 7}"#,
        r#"{"battery_set_power_timeout": 60, "battery_set_power_charge_watts": 1e400,
            "battery_set_power_charge_watts": 7}"#,
    ] {
        let path = location(&fixture.ada.post_bytes(&fixture.path(), body).await);
        let (status, action) = fixture.ada.get(&path).await;
        assert_eq!(status, 200, "{body}");
        let sent: Value = serde_json::from_str(&body.replace("1e400", "1")).unwrap();
        assert_eq!(action["action"], sent, "{body}");
        let keys: Vec<_> = action["action"].as_object().unwrap().keys().collect();
        assert_eq!(
            keys,
            [
                "battery_set_power_timeout",
                "battery_set_power_charge_watts"
            ]
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_viewer_reads_but_does_not_act_and_foreign_actions_do_not_exist() {
    let fixture = Fixture::at(NOW).await;
    let one = fixture.acted(&charge(1)).await;
    let (bob, eve) = (fixture.client("bob").await, fixture.client("eve").await);
    for body in [charge(2), json!({}), json!({"nonsense": 1})] {
        let answer = bob.send(Method::POST, &fixture.path(), Some(&body)).await;
        assert_eq!((answer.status, answer.code()), (403, "permission_denied"));
        let answer = eve.send(Method::POST, &fixture.path(), Some(&body)).await;
        assert_eq!((answer.status, answer.code()), (404, "not_found"));
    }
    for path in [fixture.path(), one.clone()] {
        assert_eq!(bob.get(&path).await.0, 200);
        assert_eq!(eve.get(&path).await.0, 404);
    }
    // The action is not one of her own building's either.
    let uuid = one.trim_end_matches('/').rsplit('/').next().unwrap();
    let path = path(fixture.other);
    assert_eq!(eve.get(&format!("{path}{uuid}/")).await.0, 404);
    assert_eq!(eve.get(&path).await, (200, json!([])));
    assert_eq!(
        fixture.ada.get(&format!("{}x/", fixture.path())).await.0,
        404
    );
    assert_eq!(fixture.stored().await, 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_building_tells_whether_its_controller_is_connected_and_since_when() {
    let fixture = Fixture::at(NOW).await;
    let path = format!("/buildings/{}/", fixture.building);
    let (_, list) = fixture.ada.get("/buildings/").await;
    let mut listed = list.as_array().unwrap().iter();
    let listed = listed.find(|it| it["uuid"] == fixture.building.to_string());
    let listed = listed.unwrap().clone();
    assert_eq!(listed.as_object().unwrap().len(), 4);
    let check = async |presence: Value| {
        let mut expected = listed.clone();
        expected["presence"] = presence;
        assert_eq!(fixture.ada.get(&path).await, (200, expected));
    };
    check(Value::Null).await;
    for (after, online, since) in [
        (0, false, 0),
        (10, false, 0),
        (20, true, 20),
        (30, true, 20),
        (40, false, 40),
        (50, true, 50),
        (51, true, 50),
        (52, true, 50),
    ] {
        sqlx::query("insert into presence values ($1, to_timestamp($2), $3)")
            .bind(fixture.building)
            .bind(NOW + after)
            .bind(online)
            .execute(&fixture.world.database)
            .await
            .unwrap();
        check(json!({"online": online, "since": NOW + since})).await;
    }
    let eve = fixture.client("eve").await;
    assert_eq!(eve.get(&path).await.0, 404);
    let without_slash = path.trim_end_matches('/');
    assert_eq!(fixture.ada.get(without_slash).await.0, 200);
}
