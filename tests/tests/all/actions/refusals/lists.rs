//! Rules of what stands deeper in a body: car sockets, setpoints, blocks.

use super::{BLOCK, Fixture, HOUR, NOW, Told, breaks, check_all, planning};
use serde_json::{Value, json};
use uuid::Uuid;

#[tokio::test(flavor = "multi_thread")]
async fn rules_of_car_sockets() {
    let fixture = Fixture::at(NOW).await;
    let socket = |sensor: Uuid| {
        json!({"sensor_uuid": sensor, "ev_socket_set_power_charge_watts": 1,
               "ev_socket_set_power_timeout": 60})
    };
    let [one, other] = fixture.sockets.map(socket);
    let update = |items: Value| json!({"ev_sockets_update": items});
    let with = |name: &str, value: Value| {
        let mut socket = other.clone();
        socket[name] = value;
        update(json!([one, socket]))
    };
    let (watts, timeout) = (
        "ev_socket_set_power_charge_watts",
        "ev_socket_set_power_timeout",
    );
    let root = "/ev_sockets_update";
    let second = "/ev_sockets_update/1/sensor_uuid";
    let many: Vec<Value> = (0..101).map(|_| json!(5)).collect();
    let cases: &[(Value, Told)] = &[
        (update(json!([])), &[(root, "too_few")]),
        (update(many.into()), &[(root, "too_many")]),
        (update(json!({})), &[(root, "not_an_array")]),
        (update(Value::Null), &[(root, "not_an_array")]),
        (
            update(json!([one, 5])),
            &[("/ev_sockets_update/1", "not_an_object")],
        ),
        (update(json!([one, one])), &[(second, "repeated")]),
        (with("sensor_uuid", json!("x")), &[(second, "not_a_uuid")]),
        (with("sensor_uuid", json!(5)), &[(second, "not_a_uuid")]),
        (
            with("sensor_uuid", json!(Uuid::new_v4())),
            &[(second, "unknown_sensor")],
        ),
        (
            with("sensor_uuid", json!(fixture.foreign_socket)),
            &[(second, "unknown_sensor")],
        ),
        (
            with("sensor_uuid", json!(fixture.setpoints[0])),
            &[(second, "wrong_kind")],
        ),
        (
            with("sensor_uuid", json!(fixture.temperature)),
            &[(second, "wrong_kind")],
        ),
        (
            with(watts, json!(-1)),
            &[(
                "/ev_sockets_update/1/ev_socket_set_power_charge_watts",
                "below_minimum",
            )],
        ),
        (
            with(timeout, json!(59)),
            &[(
                "/ev_sockets_update/1/ev_socket_set_power_timeout",
                "below_minimum",
            )],
        ),
        (
            with(timeout, Value::Null),
            &[(
                "/ev_sockets_update/1/ev_socket_set_power_timeout",
                "not_an_integer",
            )],
        ),
        (
            with("name/", json!(1)),
            &[("/ev_sockets_update/1/name~1", "unknown_property")],
        ),
        (
            update(json!([{}, one, {"sensor_uuid": fixture.temperature, (watts): 0.5, "x": 1}])),
            &[
                ("/ev_sockets_update/0/sensor_uuid", "required"),
                (
                    "/ev_sockets_update/0/ev_socket_set_power_charge_watts",
                    "required",
                ),
                (
                    "/ev_sockets_update/0/ev_socket_set_power_timeout",
                    "required",
                ),
                ("/ev_sockets_update/2/sensor_uuid", "wrong_kind"),
                (
                    "/ev_sockets_update/2/ev_socket_set_power_charge_watts",
                    "not_an_integer",
                ),
                (
                    "/ev_sockets_update/2/ev_socket_set_power_timeout",
                    "required",
                ),
                ("/ev_sockets_update/2/x", "unknown_property"),
            ],
        ),
    ];
    check_all(&fixture, cases).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn rules_of_setpoints() {
    let fixture = Fixture::at(NOW).await;
    let value = |sensor: Uuid| json!({"sensor_uuid": sensor, "value": 1.5});
    let [one, other] = fixture.setpoints.map(value);
    let update = |update: Value| json!({"setpoints_update": update});
    let (root, minutes) = (
        "/setpoints_update",
        "/setpoints_update/fallback_timeout_minutes",
    );
    let (values, fallback) = (
        "/setpoints_update/setpoints",
        "/setpoints_update/fallback_setpoints",
    );
    let cases: &[(Value, Told)] = &[
        (update(Value::Null), &[(root, "not_an_object")]),
        (update(json!([])), &[(root, "not_an_object")]),
        (
            update(json!({})),
            &[
                (minutes, "required"),
                (values, "required"),
                (fallback, "required"),
            ],
        ),
        (
            update(json!({"x": 1})),
            &[
                (minutes, "required"),
                (values, "required"),
                (fallback, "required"),
                ("/setpoints_update/x", "unknown_property"),
            ],
        ),
        (
            update(json!({"fallback_timeout_minutes": -1})),
            &[(minutes, "below_minimum")],
        ),
        (
            update(json!({"fallback_timeout_minutes": 10_081, "fallback_setpoints": [one]})),
            &[(minutes, "above_maximum")],
        ),
        (
            update(json!({"fallback_timeout_minutes": Value::Null})),
            &[(minutes, "not_an_integer")],
        ),
        (
            update(json!({"fallback_timeout_minutes": 1})),
            &[(fallback, "required")],
        ),
        (
            update(json!({"fallback_timeout_minutes": 1, "fallback_setpoints": []})),
            &[(fallback, "required")],
        ),
        (
            update(json!({"fallback_timeout_minutes": 1, "setpoints": [one]})),
            &[(fallback, "required")],
        ),
        // What cannot be read tells nothing of the kill switch.
        (
            update(json!({"fallback_timeout_minutes": 1, "fallback_setpoints": [5]})),
            &[("/setpoints_update/fallback_setpoints/0", "not_an_object")],
        ),
        (
            update(json!({"fallback_timeout_minutes": 0.5, "fallback_setpoints": [one]})),
            &[(minutes, "not_an_integer")],
        ),
        (
            update(json!({"setpoints": {}})),
            &[(values, "not_an_array")],
        ),
        (
            update(json!({"fallback_setpoints": Value::Null})),
            &[(fallback, "not_an_array")],
        ),
        (
            update(json!({"setpoints": vec![0; 1_001]})),
            &[(values, "too_many")],
        ),
        (
            update(json!({"fallback_setpoints": [one, other, one]})),
            &[(
                "/setpoints_update/fallback_setpoints/2/sensor_uuid",
                "repeated",
            )],
        ),
        (
            update(
                json!({"fallback_setpoints": [{"sensor_uuid": fixture.setpoints[0], "value": "1"}]}),
            ),
            &[(
                "/setpoints_update/fallback_setpoints/0/value",
                "not_a_number",
            )],
        ),
        (
            update(json!({"setpoints": [one, {"value": 1e308, "x": 1}],
                "fallback_setpoints": [value(fixture.foreign_setpoint), value(fixture.sockets[0]), {}]})),
            &[
                ("/setpoints_update/setpoints/1/sensor_uuid", "required"),
                ("/setpoints_update/setpoints/1/value", "out_of_range"),
                ("/setpoints_update/setpoints/1/x", "unknown_property"),
                (
                    "/setpoints_update/fallback_setpoints/0/sensor_uuid",
                    "unknown_sensor",
                ),
                (
                    "/setpoints_update/fallback_setpoints/1/sensor_uuid",
                    "wrong_kind",
                ),
                (
                    "/setpoints_update/fallback_setpoints/2/sensor_uuid",
                    "required",
                ),
                ("/setpoints_update/fallback_setpoints/2/value", "required"),
            ],
        ),
    ];
    check_all(&fixture, cases).await;
    fallbacks_of_before_will_do(&fixture, &one).await;
}

/// A kill switch may be armed with fallbacks that were given before, as long as they are not taken back.
async fn fallbacks_of_before_will_do(fixture: &Fixture, one: &Value) {
    let update = |update: Value| json!({"setpoints_update": update});
    let lacks = [("/setpoints_update/fallback_setpoints", "required")];
    fixture
        .acted(&update(json!({"fallback_setpoints": [one]})))
        .await;
    fixture
        .acted(&update(json!({"fallback_timeout_minutes": 1})))
        .await;
    fixture.acted(&update(json!({"setpoints": [one]}))).await;
    let none = update(json!({"fallback_setpoints": []}));
    breaks(&fixture.act(&none).await, &lacks);
    let disarmed = update(json!({"fallback_setpoints": [], "fallback_timeout_minutes": 0}));
    fixture.acted(&disarmed).await;
    let armed = update(json!({"fallback_timeout_minutes": 1}));
    breaks(&fixture.act(&armed).await, &lacks);
}

#[tokio::test(flavor = "multi_thread")]
async fn rules_of_fcr_planning() {
    let fixture = Fixture::at(NOW).await;
    let with = |name: &str, value: Value| {
        let mut body = planning(BLOCK, BLOCK + 4 * HOUR, true);
        body["fcr_planning"][name] = value;
        body
    };
    let [root, power, start, stop, enabled] = [
        "/fcr_planning",
        "/fcr_planning/power",
        "/fcr_planning/start_timestamp",
        "/fcr_planning/stop_timestamp",
        "/fcr_planning/enabled",
    ];
    let cases: &[(Value, Told)] = &[
        (
            json!({"fcr_planning": Value::Null}),
            &[(root, "not_an_object")],
        ),
        (json!({"fcr_planning": [1]}), &[(root, "not_an_object")]),
        (
            json!({"fcr_planning": {"watts": 1}}),
            &[
                (power, "required"),
                (start, "required"),
                (stop, "required"),
                (enabled, "required"),
                ("/fcr_planning/watts", "unknown_property"),
            ],
        ),
        (with("power", json!(-1)), &[(power, "below_minimum")]),
        (with("power", json!(0.5)), &[(power, "not_an_integer")]),
        (
            with("enabled", json!("true")),
            &[(enabled, "not_a_boolean")],
        ),
        (with("enabled", Value::Null), &[(enabled, "not_a_boolean")]),
        (
            with("start_timestamp", json!(BLOCK * 1_000)),
            &[(start, "out_of_range")],
        ),
        (
            with("start_timestamp", json!(BLOCK + 1)),
            &[(start, "not_a_block_start")],
        ),
        (
            with("start_timestamp", json!(BLOCK - 4 * HOUR)),
            &[(start, "not_ahead"), (stop, "not_the_block_end")],
        ),
        (
            with("stop_timestamp", json!(BLOCK)),
            &[(stop, "not_the_block_end")],
        ),
        (
            with("stop_timestamp", json!(BLOCK + 8 * HOUR)),
            &[(stop, "not_the_block_end")],
        ),
        (
            with("stop_timestamp", json!("x")),
            &[(stop, "not_an_integer")],
        ),
    ];
    check_all(&fixture, cases).await;
}
