//! Every row of the specification's state table that is about control.

use super::site::{ControlSite, NOON};
use serde_json::{Value, json};
use testkit::Method;

#[tokio::test(flavor = "multi_thread")]
async fn a_curtailment_ends_with_its_timeout_and_the_default_fallback_is_no_entry() {
    let site = ControlSite::new().await;
    let action = site
        .act(json!({"inverters_set_power_percentage": 50, "inverters_set_power_timeout": 60}))
        .await;
    let entry = json!({"inverters": {"action_uuid": action, "power_percentage": 50,
        "until": NOON + 60, "fallback": {"power_percentage": 100}, "consumption_compensated": false}});
    let before = site.desires(entry.clone()).await;
    site.api.advance_seconds(59);
    // The timeout remains in use for later requests.
    let second = site.act(json!({"inverters_set_power_watts": 3000})).await;
    let watts = json!({"inverters": {"action_uuid": second, "power_watts": 3000,
        "until": NOON + 119, "fallback": {"power_watts": null}, "consumption_compensated": false}});
    let between = site.desires(watts).await;
    assert_eq!(
        between["revision"],
        before["revision"].as_i64().unwrap() + 1
    );
    site.api.advance_seconds(60);
    let after = site.desires(json!({})).await;
    assert_eq!(after["issued_at"], NOON + 119);
    assert_eq!(site.action(&action).await["status"], "superseded");
    let second = site.action(&second).await;
    assert_eq!(
        (&second["status"], &second["ended_at"]),
        (&json!("expired"), &json!(NOON + 119))
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_curtailments_own_fallback_stays_until_something_new() {
    let site = ControlSite::new().await;
    for (value, fallback, power) in [
        (
            "inverters_set_power_percentage",
            "inverters_set_power_timeout_percentage",
            "power_percentage",
        ),
        (
            "inverters_set_power_watts",
            "inverters_set_power_timeout_watts",
            "power_watts",
        ),
    ] {
        let now = site.now();
        let body = json!({value: 0, "inverters_set_power_timeout": 90, fallback: 70});
        let action = site.act(body).await;
        let entry = |watts: i32, until: Value| json!({"action_uuid": action, power: watts, "until": until, "consumption_compensated": false});
        let mut expected = json!({"inverters": entry(0, json!(now + 90))});
        expected["inverters"]["fallback"] = json!({power: 70});
        site.desires(expected).await;
        site.api.advance_seconds(90);
        let fallback = json!({"inverters": entry(70, Value::Null)});
        site.desires(fallback.clone()).await;
        site.api.advance_seconds(7 * 86_400);
        // Something else changes, so that a document would show it.
        let battery = json!({"battery_set_power_charge_watts": 1, "battery_set_power_timeout": 60});
        site.act(battery).await;
        let newest = site
            .documents
            .until(site.building, |body| body["battery"].is_object())
            .await;
        assert_eq!(newest.body["inverters"], fallback["inverters"]);
        site.api.advance_seconds(60);
        site.desires(fallback).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_timeout_a_curtailment_stays_and_null_clears_the_one_in_use() {
    let site = ControlSite::new().await;
    site.act(json!({"inverters_set_power_percentage": 5, "inverters_set_power_timeout": 60}))
        .await;
    let action = site
        .act(json!({"inverters_set_power_percentage": 12.5, "inverters_set_power_timeout": null}))
        .await;
    let expected = json!({"inverters": {"action_uuid": action, "power_percentage": 12.5,
        "until": null, "consumption_compensated": false}});
    let first = site.desires(expected.clone()).await;
    site.api.advance_seconds(20 * 86_400);
    let restored = site
        .documents
        .revision(site.building, first["revision"].as_i64().unwrap())
        .await;
    assert_eq!(restored.body, first, "nothing new came");
    assert_eq!(site.action(&action).await["ended_at"], Value::Null);
}

#[tokio::test(flavor = "multi_thread")]
async fn battery_and_sockets_end_with_their_timeouts() {
    let site = ControlSite::new().await;
    let battery = site
        .act(json!({"battery_set_power_discharge_watts": 1500, "battery_set_power_timeout": 60}))
        .await;
    let wish = |socket: usize, watts: i32, timeout: i32| {
        json!({"sensor_uuid": site.sockets[socket], "ev_socket_set_power_charge_watts": watts,
            "ev_socket_set_power_timeout": timeout})
    };
    let both = json!({"ev_sockets_update": [wish(0, 3700, 60), wish(1, 7400, 120)]});
    let both = site.act(both).await;
    let one = site
        .act(json!({"ev_sockets_update": [wish(1, 11_000, 90)]}))
        .await;
    let mut expected = json!({
        "battery": {"action_uuid": battery, "discharge_watts": 1500, "until": NOON + 60},
        "ev_sockets": [
            {"action_uuid": both, "sensor_uuid": site.sockets[0], "charge_watts": 3700, "until": NOON + 60},
            {"action_uuid": one, "sensor_uuid": site.sockets[1], "charge_watts": 11_000, "until": NOON + 90},
        ],
    });
    let sockets = expected["ev_sockets"].as_array_mut().unwrap();
    sockets.sort_by_key(|it| it["sensor_uuid"].to_string());
    site.desires(expected).await;
    assert_eq!(
        site.action(&both).await["ended_at"],
        Value::Null,
        "one of its sockets is left"
    );
    site.api.advance_seconds(60);
    site.desires(
        json!({"ev_sockets": [{"action_uuid": one, "sensor_uuid": site.sockets[1],
        "charge_watts": 11_000, "until": NOON + 90}]}),
    )
    .await;
    for over in [battery, both] {
        let over = site.action(&over).await;
        assert_eq!(
            (&over["status"], &over["ended_at"]),
            (&json!("expired"), &json!(NOON + 60))
        );
    }
    site.api.advance_seconds(30);
    site.desires(json!({})).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_grid_target_ends_is_cancelled_and_keeps_within_the_limits_in_force() {
    let site = ControlSite::new().await;
    let schedule = format!("/buildings/{}/schedules/grid_limits/", site.building);
    let mut limits = Vec::new();
    for (delivery, length) in [(4_000, 1_800), (3_000, 900)] {
        let body = json!({"start_timestamp": NOON + 900, "end_timestamp": NOON + 900 + length,
            "delivery_limit_watts": delivery, "return_delivery_limit_watts": 0});
        let created = site.client.send(Method::POST, &schedule, Some(&body)).await;
        assert_eq!(created.status, 201, "{}", created.text);
        limits.push(json!({"grid_limit_uuid": created.body["grid_limit_uuid"],
            "start": NOON + 900, "end": NOON + 900 + length, "delivery_limit_watts": delivery,
            "return_delivery_limit_watts": 0}));
    }
    let shown = |mut limits: Vec<Value>| {
        limits.sort_by_key(|it| it["grid_limit_uuid"].to_string());
        Value::from(limits)
    };
    site.desires(json!({"grid_limits": shown(limits.clone())}))
        .await;
    let target = site
        .act(json!({"grid_target_delivery_watts": 5_000, "grid_target_duration": 3_600}))
        .await;
    let entry = |effective: i32| {
        json!({"action_uuid": target, "delivery_watts": 5_000,
            "effective_delivery_watts": effective, "until": NOON + 3_600})
    };
    let both = json!({"grid_target": entry(5_000), "grid_limits": shown(limits.clone())});
    site.desires(both).await;
    site.api.advance_seconds(900);
    let strictest = json!({"grid_target": entry(3_000), "grid_limits": shown(limits.clone())});
    site.desires(strictest).await;
    site.api.advance_seconds(900);
    let wider = json!({"grid_target": entry(4_000), "grid_limits": [limits[0]]});
    site.desires(wider).await;
    site.api.advance_seconds(900);
    site.desires(json!({"grid_target": entry(5_000)})).await;
    let cancel = site.act(json!({"grid_target_cancel": true})).await;
    site.desires(json!({})).await;
    assert_eq!(site.action(&target).await["status"], "superseded");
    assert_eq!(site.action(&cancel).await["ended_at"], Value::Null);

    let back = site
        .act(json!({"grid_target_return_delivery_watts": 70, "grid_target_duration": 1}))
        .await;
    assert_eq!(site.action(&cancel).await["status"], "superseded");
    let now = site.now();
    site.desires(
        json!({"grid_target": {"action_uuid": back, "return_delivery_watts": 70,
        "effective_return_delivery_watts": 70, "until": now + 1}}),
    )
    .await;
    site.api.advance_seconds(1);
    let last = site.desires(json!({})).await;
    let idle = site.act(json!({"grid_target_cancel": true})).await;
    let idle = site.action(&idle).await;
    assert_eq!(
        (&idle["status"], &idle["ended_at"]),
        (&json!("confirmed"), &json!(now + 1))
    );
    // A change that comes behind it shows that it made no revision.
    site.act(json!({"inverters_set_power_watts": 1})).await;
    let next = site
        .documents
        .until(site.building, |body| body["inverters"].is_object())
        .await;
    assert_eq!(next.revision(), last["revision"].as_i64().unwrap() + 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_kill_switch_fires_is_started_anew_and_is_disabled() {
    let site = ControlSite::new().await;
    let item = |setpoint: usize, value: f64| json!({"sensor_uuid": site.setpoints[setpoint], "value": value});
    let first = site
        .act(json!({"setpoints_update": {"fallback_timeout_minutes": 10,
            "setpoints": [item(0, 20.5)], "fallback_setpoints": [item(0, 18.0), item(1, -2.5)]}}))
        .await;
    let fallback = json!([{"sensor_uuid": site.setpoints[0], "value": 18},
        {"sensor_uuid": site.setpoints[1], "value": -2.5}]);
    let armed = |action: &str, values: Value, until: i64| json!({"setpoints": {"action_uuid": action, "values": values, "until": until, "fallback": fallback}});
    let values = json!([{"sensor_uuid": site.setpoints[0], "value": 20.5}]);
    site.desires(armed(&first, values.clone(), NOON + 600))
        .await;
    site.api.advance_seconds(599);
    // Any command starts the time anew, with what was given before.
    let again = site
        .act(json!({"setpoints_update": {"fallback_timeout_minutes": 10}}))
        .await;
    site.desires(armed(&again, values, NOON + 1_199)).await;
    site.api.advance_seconds(600);
    let fired = json!({"setpoints": {"action_uuid": again, "values": fallback, "until": null}});
    site.desires(fired).await;
    let new = json!([{"sensor_uuid": site.setpoints[1], "value": 1e3}]);
    let third = site
        .act(json!({"setpoints_update": {"setpoints": new}}))
        .await;
    site.desires(armed(
        &third,
        json!([{"sensor_uuid": site.setpoints[1], "value": 1000}]),
        NOON + 1_799,
    ))
    .await;
    let off = site
        .act(json!({"setpoints_update": {"fallback_timeout_minutes": 0}}))
        .await;
    let kept = json!({"setpoints": {"action_uuid": off,
        "values": [{"sensor_uuid": site.setpoints[1], "value": 1000}], "until": null}});
    let kept = site.desires(kept).await;
    site.api.advance_seconds(86_400);
    site.act(json!({"inverters_set_power_watts": 1})).await;
    let next = site
        .documents
        .until(site.building, |body| body["inverters"].is_object())
        .await;
    assert_eq!(
        next.body["setpoints"], kept["setpoints"],
        "no switch back to a fallback"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_block_is_overwritten_cancelled_and_over() {
    let site = ControlSite::new().await;
    // 12:00 UTC is 13:00 in Amsterdam, so blocks begin at 15:00, 19:00 and 23:00 UTC.
    let start = NOON + 3 * 3_600;
    let plan = |start: i64, power: i32, enabled: bool| {
        json!({"fcr_planning": {"power": power, "start_timestamp": start,
            "stop_timestamp": start + 4 * 3_600, "enabled": enabled}})
    };
    let block = |action: &str, start: i64, power: i32| json!({"action_uuid": action, "power_watts": power, "start": start, "stop": start + 4 * 3_600});
    let later = site.act(plan(start + 4 * 3_600, 7, true)).await;
    let first = site.act(plan(start, 100_000, true)).await;
    let second = site.act(plan(start, 50_000, true)).await;
    let both = [
        block(&second, start, 50_000),
        block(&later, start + 4 * 3_600, 7),
    ];
    site.desires(json!({"fcr": both})).await;
    assert_eq!(site.action(&first).await["status"], "superseded");
    let cancel = site.act(plan(start + 4 * 3_600, 7, false)).await;
    site.desires(json!({"fcr": [block(&second, start, 50_000)]}))
        .await;
    assert_eq!(site.action(&later).await["status"], "superseded");
    site.api.advance_seconds(7 * 3_600);
    site.desires(json!({})).await;
    assert_eq!(
        site.action(&second).await["ended_at"],
        json!(start + 4 * 3_600)
    );
    assert_eq!(site.action(&cancel).await["ended_at"], Value::Null);
    site.api.advance_seconds(4 * 3_600);
    testkit::eventually(async || {
        let cancel = site.action(&cancel).await;
        if cancel["status"] == "expired" {
            Ok(())
        } else {
            Err(cancel)
        }
    })
    .await;
}
