//! Every rule of every family, each told at its own place, and all at once.

#[path = "refusals/lists.rs"]
mod lists;
#[path = "refusals/power.rs"]
mod power;

use super::{BLOCK, Fixture, HOUR, NOW, breaks, charge, planning};
use serde_json::{Value, json};
use uuid::Uuid;

type Told<'a> = &'a [(&'a str, &'a str)];

const P: &str = "/inverters_set_power_percentage";
const W: &str = "/inverters_set_power_watts";
const T: &str = "/inverters_set_power_timeout";
const TP: &str = "/inverters_set_power_timeout_percentage";
const TW: &str = "/inverters_set_power_timeout_watts";
const CHARGE: &str = "/battery_set_power_charge_watts";
const DISCHARGE: &str = "/battery_set_power_discharge_watts";
const BATTERY_TIMEOUT: &str = "/battery_set_power_timeout";
const DELIVERY: &str = "/grid_target_delivery_watts";
const RETURN: &str = "/grid_target_return_delivery_watts";
const DURATION: &str = "/grid_target_duration";
const CANCEL: &str = "/grid_target_cancel";

/// A body with these properties; their names are pointers.
fn body<const N: usize>(properties: [(&str, Value); N]) -> Value {
    let named = properties.map(|(name, value)| (name.trim_start_matches('/').to_owned(), value));
    Value::Object(named.into_iter().collect())
}

async fn check_all(fixture: &Fixture, cases: &[(Value, Told<'_>)]) {
    for (body, expected) in cases {
        breaks(&fixture.act(body).await, expected);
    }
    assert_eq!(fixture.stored().await, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_of_no_family_or_of_several_is_told_by_its_properties() {
    let fixture = Fixture::at(NOW).await;
    let none = [
        P,
        W,
        CHARGE,
        DISCHARGE,
        DELIVERY,
        RETURN,
        CANCEL,
        "/ev_sockets_update",
        "/setpoints_update",
        "/fcr_planning",
    ];
    let none: Vec<(&str, &str)> = none.iter().map(|field| (*field, "required")).collect();
    let with_unknown = [&none[..], &[("/charge", "unknown_property")]].concat();
    let cases: &[(Value, Told)] = &[
        (json!({}), &none),
        (json!({"charge": 5}), &with_unknown),
        (
            body([(P, json!(50)), ("/a~1b/~0", json!(1))]),
            &[("/a~01b~1~00", "unknown_property")],
        ),
        (
            body([(P, json!(50)), (W, json!(50))]),
            &[(W, "another_family")],
        ),
        (
            body([(W, json!(50)), (T, json!(60)), (TP, json!(5))]),
            &[(TP, "another_family")],
        ),
        (
            body([(P, json!(50)), (T, json!(60)), (TW, json!(5))]),
            &[(TW, "another_family")],
        ),
        (
            body([
                (CHARGE, json!(1)),
                (BATTERY_TIMEOUT, json!(60)),
                (P, json!(1)),
            ]),
            &[
                (CHARGE, "another_family"),
                (BATTERY_TIMEOUT, "another_family"),
            ],
        ),
        (
            body([
                (CANCEL, json!(true)),
                (
                    "/fcr_planning",
                    planning(BLOCK, BLOCK + 4 * HOUR, true)["fcr_planning"].clone(),
                ),
            ]),
            &[("/fcr_planning", "another_family")],
        ),
        (
            body([
                (CHARGE, json!(1)),
                (BATTERY_TIMEOUT, json!(60)),
                (T, json!(60)),
            ]),
            &[(T, "another_family"), (P, "required"), (W, "required")],
        ),
        (
            body([(CHARGE, json!(-1)), (DELIVERY, json!(0.5))]),
            &[
                (CHARGE, "below_minimum"),
                (BATTERY_TIMEOUT, "required"),
                (DELIVERY, "another_family"),
                (DELIVERY, "not_an_integer"),
                (DURATION, "required"),
            ],
        ),
    ];
    check_all(&fixture, cases).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_no_json_object_or_too_large_is_refused_whatever_else_is_wrong() {
    let fixture = Fixture::at(NOW).await;
    let send = async |body: &str| fixture.ada.post_bytes(&fixture.path(), body).await;
    for (body, code) in [
        ("", "not_json"),
        ("{", "not_json"),
        ("\u{feff}{}", "not_json"),
        ("{\"x\": \"\\ud800\"}", "not_json"),
        ("[]", "not_an_object"),
        ("null", "not_an_object"),
        (
            &format!("{{\"fcr_planning\": {}", "[".repeat(60_000)),
            "not_json",
        ),
    ] {
        breaks(&send(body).await, &[("", code)]);
    }
    let text = charge(1).to_string();
    let largest = format!("{}{text}", " ".repeat(65_536 - text.len()));
    assert_eq!(send(&largest).await.status, 204);
    let answer = send(&format!(" {largest}")).await;
    assert_eq!((answer.status, answer.code()), (413, "body_too_large"));
    assert_eq!(fixture.stored().await, 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_desired_state_beyond_a_thousand_entries_is_refused_at_what_makes_the_action() {
    let fixture = Fixture::at(NOW).await;
    sqlx::query(
        "insert into grid_limit select $1, gen_random_uuid(), to_timestamp($2), to_timestamp($2 + 900), \
         1, 2 from generate_series(1, 999)",
    )
    .bind(fixture.building)
    .bind(NOW + 900)
    .execute(&fixture.world.database)
    .await
    .unwrap();
    let socket = |sensor: Uuid| {
        json!({"sensor_uuid": sensor, "ev_socket_set_power_charge_watts": 1,
               "ev_socket_set_power_timeout": 60})
    };
    let [one, other] = fixture.sockets.map(socket);
    let both = json!({"ev_sockets_update": [one, other]});
    breaks(
        &fixture.act(&both).await,
        &[("/ev_sockets_update", "too_many")],
    );
    fixture.acted(&json!({"ev_sockets_update": [one]})).await;
    let plan = planning(BLOCK, BLOCK + 4 * HOUR, true);
    breaks(&fixture.act(&plan).await, &[("/fcr_planning", "too_many")]);
    let value = json!({"sensor_uuid": fixture.setpoints[0], "value": 1});
    let setpoints = json!({"setpoints_update": {"setpoints": [value]}});
    breaks(
        &fixture.act(&setpoints).await,
        &[("/setpoints_update", "too_many")],
    );
    fixture.acted(&charge(1)).await;
    assert_eq!(fixture.stored().await, 2);
}
