//! Readings, key-values and presence, from MQTT to the database.

use crate::WATTLINE;
use crate::records::{meter, now};
use serde_json::{Value, json};
use testkit::{BuildingPlan, Controller, Mode, Running, World, eventually};
use uuid::Uuid;
use wire::topic::{MqttTopic, RecordKind};

/// A building with a sensor of each of these kinds, in this order.
fn plan(kinds: &[&str]) -> (BuildingPlan, Vec<Uuid>) {
    let uuids: Vec<Uuid> = kinds.iter().map(|_| Uuid::new_v4()).collect();
    let sensors: Vec<Value> = kinds
        .iter()
        .zip(&uuids)
        .map(|(kind, uuid)| json!({"sensor_uuid": uuid, "name": kind, "kind": kind}))
        .collect();
    let mut plan = BuildingPlan::new();
    plan.sensor_hubs =
        json!([{"uuid": Uuid::new_v4(), "name": "Hub", "kind": "hub", "sensors": sensors}]);
    (plan, uuids)
}

/// What became of the messages: stored, duplicate, conflict, refused as unknown sensors.
async fn fates(serve: &Running) -> (f64, f64, f64, f64) {
    let scrape = serve.metrics().await;
    let of = |name: &str| scrape[&format!("wattline_aggregator_{name}")];
    (
        of("stored_messages_total"),
        of("duplicate_messages_total"),
        of("conflict_messages_total"),
        of("dead_lettered_messages_total{reason=\"unknown_sensor\"}"),
    )
}

pub(crate) async fn until_fates(serve: &Running, expected: (f64, f64, f64, f64)) {
    eventually(async || match fates(serve).await {
        fates if fates == expected => Ok(()),
        fates => Err(fates),
    })
    .await;
}

/// Publishes a record of any kind.
pub(crate) async fn send(
    controller: &Controller,
    kind: RecordKind,
    building: Uuid,
    payload: Value,
) {
    let topic = MqttTopic::format(kind, building);
    controller.publish(&topic, payload.to_string()).await;
}

async fn readings_are_stored_once_by_building_time_and_sensor(mode: Mode) {
    let world = World::new(WATTLINE, mode).await;
    let (plan, sensors) = plan(&["gas_volume", "temperature", "ev_socket", "delivery"]);
    world.apply(std::slice::from_ref(&plan));
    let serve = world.serve().await;
    let controller = world.controller();
    let time = now() - 3_600;
    let [gas, temperature, socket, delivery] = sensors[..] else {
        panic!("four sensors");
    };
    let message = |gas_m3: f64| {
        json!({"time": time, "readings": [
            {"sensor_uuid": gas, "meter_reading": gas_m3},
            {"sensor_uuid": temperature.to_string().to_uppercase(), "value": 20.5},
            {"sensor_uuid": socket, "power_w": 3_700},
            {"sensor_uuid": delivery, "meter_reading": 5.25},
        ]})
    };
    let readings = RecordKind::Readings;
    send(&controller, readings, plan.uuid, message(100.5)).await;
    // The same again; the same with another content; one sensor of it with another.
    send(&controller, readings, plan.uuid, message(100.5)).await;
    send(&controller, readings, plan.uuid, message(100.75)).await;
    let partly = json!({"time": time, "readings": [
        {"sensor_uuid": gas, "meter_reading": 1},
        {"sensor_uuid": socket, "power_w": 1},
    ]});
    send(&controller, readings, plan.uuid, partly).await;
    // One sensor twice in one message: the first one wins; another one is new.
    let twice = json!({"time": time + 1, "readings": [
        {"sensor_uuid": temperature, "value": 1},
        {"sensor_uuid": temperature, "value": 2},
    ]});
    send(&controller, readings, plan.uuid, twice).await;
    until_fates(&serve, (2.0, 3.0, 2.0, 0.0)).await;

    let stored = world
        .rows(
            "select sensor.kind, extract(epoch from reading.time)::bigint as time, power_w, \
             meter_reading, value from sensor_reading reading \
             join sensor on sensor.id = reading.sensor_id order by reading.time, kind",
        )
        .await;
    let row = |kind: &str, at: i64, power: Value, meter: Value, value: Value| json!({"kind": kind, "time": at, "power_w": power, "meter_reading": meter, "value": value});
    let none = || Value::Null;
    assert_eq!(
        stored,
        [
            row("delivery", time, none(), json!(5.25), none()),
            row("ev_socket", time, json!(3_700), none(), none()),
            row("gas_volume", time, none(), json!(100.5), none()),
            row("temperature", time, none(), none(), json!(20.5)),
            row("temperature", time + 1, none(), none(), json!(1)),
        ]
    );
    let registers = world
        .rows("select reading from register_reading order by reading")
        .await;
    assert_eq!(
        registers,
        [json!({"reading": 5.25}), json!({"reading": 100.5})]
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn readings_are_stored_once_by_building_time_and_sensor_over_kafka() {
    readings_are_stored_once_by_building_time_and_sensor(Mode::Kafka).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn readings_are_stored_once_by_building_time_and_sensor_directly() {
    readings_are_stored_once_by_building_time_and_sensor(Mode::Direct).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reading_that_its_building_has_no_sensor_for_refuses_the_whole_message() {
    let world = World::new(WATTLINE, Mode::Direct).await;
    let (ours, sensors) = plan(&["temperature", "delivery", "gas_volume", "consumption"]);
    let (theirs, foreign) = plan(&["temperature"]);
    world.apply(&[ours.clone(), theirs]);
    let serve = world.serve().await;
    let controller = world.controller();
    let time = now() - 600;
    let good = json!({"sensor_uuid": sensors[0], "value": 20});
    // The reading that is not taken, and the field that is told.
    let refusals = [
        (
            json!({"sensor_uuid": Uuid::new_v4(), "value": 1}),
            "sensor_uuid",
        ),
        (
            json!({"sensor_uuid": foreign[0], "value": 1}),
            "sensor_uuid",
        ),
        (json!({"sensor_uuid": sensors[0], "power_w": 1}), "power_w"),
        (
            json!({"sensor_uuid": sensors[0], "meter_reading": 1}),
            "meter_reading",
        ),
        // Telemetry feeds it; the building with a meter combines its consumption.
        (json!({"sensor_uuid": sensors[1], "power_w": 1}), "power_w"),
        (json!({"sensor_uuid": sensors[2], "value": 1}), "value"),
        (json!({"sensor_uuid": sensors[3], "power_w": 1}), "power_w"),
        (
            json!({"sensor_uuid": sensors[3], "meter_reading": 1}),
            "meter_reading",
        ),
    ];
    for (index, (bad, _)) in refusals.iter().enumerate() {
        let payload = json!({"time": time + index as i64, "readings": [good, bad]});
        send(&controller, RecordKind::Readings, ours.uuid, payload).await;
    }
    until_fates(&serve, (0.0, 0.0, 0.0, refusals.len() as f64)).await;
    assert_eq!(world.count("select count(*) from sensor_reading").await, 0);
    let told = world
        .rows("select reason, pointer from dead_letter order by id")
        .await;
    let expected = refusals.map(
        |(_, field)| json!({"reason": "unknown_sensor", "pointer": format!("/readings/1/{field}")}),
    );
    assert_eq!(told, expected);
}

#[tokio::test(flavor = "multi_thread")]
async fn power_of_a_sensor_of_its_own_counts_like_that_of_telemetry() {
    let world = World::new(WATTLINE, Mode::Direct).await;
    let (plan, sensors) = plan(&["delivery", "delivery", "ev_socket"]);
    world.apply(std::slice::from_ref(&plan));
    let _serve = world.serve().await;
    let controller = world.controller();
    // In a minute that has ended.
    let time = now() / 60 * 60 - 60;
    controller.telemetry(plan.uuid, meter(time, 1_000)).await;
    for (second, power_w) in [(0, 40), (30, 50)] {
        let payload = json!({"time": time + second, "readings": [
            {"sensor_uuid": sensors[1], "power_w": power_w},
            {"sensor_uuid": sensors[2], "power_w": 7_000 + power_w},
        ]});
        send(&controller, RecordKind::Readings, plan.uuid, payload).await;
    }
    let client = world.client().await;
    let building = format!("/buildings/{}/electricity", plan.uuid);
    eventually(async || {
        let (_, body) = client.get(&format!("{building}/latest/")).await;
        let seen = (&body["delivery"], &body["consumption"], &body["datetime"]);
        if seen == (&json!(1_050), &json!(1_050), &json!(time)) {
            Ok(())
        } else {
            Err(body)
        }
    })
    .await;
    let single = format!(
        "{building}/sensors/latest/?sensor_uuid={},{}",
        sensors[1], sensors[2]
    );
    let values = |body: &Value| -> Vec<i64> {
        let bodies = body.as_array().unwrap().iter();
        bodies.map(|it| it["value"].as_i64().unwrap()).collect()
    };
    let (_, body) = client.get(&single).await;
    assert_eq!(values(&body), [50, 7_050], "{body}");
    assert_eq!(body[1]["energy_method"], Value::Null);
    let (_, body) = client.get(&format!("{single}&aggregate=minute")).await;
    assert_eq!(values(&body), [45, 7_045], "{body}");
    assert_eq!(body[0]["datetime"], json!(time));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_newest_registration_of_a_key_is_kept_whatever_the_order_of_arrival() {
    let world = World::new(WATTLINE, Mode::Direct).await;
    let building = world.building();
    let serve = world.serve().await;
    let controller = world.controller();
    let time = now() - 600;
    let long_key = "k".repeat(20_000);
    let messages = [
        json!({"time": time, "values": {"mode": "eco", "limit": 5.0, "on": true, long_key.clone(): 1e-7}}),
        json!({"time": time - 60, "values": {"mode": "boost", "only_then": -0.5}}),
        // Known: the same, and with another value.
        json!({"time": time, "values": {"mode": "eco", "limit": 5}}),
        json!({"time": time, "values": {"mode": "off"}}),
        json!({"time": time - 120, "values": {}}),
    ];
    for message in messages {
        send(&controller, RecordKind::KeyValues, building, message).await;
    }
    until_fates(&serve, (3.0, 2.0, 1.0, 0.0)).await;
    let latest = world
        .rows(
            "select left(key, 10) as key, value, extract(epoch from time)::bigint as time \
             from latest_key_value order by key",
        )
        .await;
    let row = |key: &str, value: Value, at| json!({"key": key, "value": value, "time": at});
    assert_eq!(
        latest,
        [
            row("kkkkkkkkkk", json!(1e-7), time),
            row("limit", json!(5), time),
            row("mode", json!("eco"), time),
            row("on", json!(true), time),
            row("only_then", json!(-0.5), time - 60),
        ]
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn presence_is_kept_with_the_moment_of_its_receipt() {
    let world = World::new(WATTLINE, Mode::Kafka).await;
    let building = world.building();
    let serve = world.serve().await;
    let controller = world.controller();
    for online in [true, false, true] {
        send(
            &controller,
            RecordKind::Presence,
            building,
            json!({"online": online}),
        )
        .await;
    }
    until_fates(&serve, (3.0, 0.0, 0.0, 0.0)).await;
    let kept = world
        .rows("select online from presence order by received_at")
        .await;
    assert_eq!(
        kept,
        [true, false, true].map(|online| json!({"online": online}))
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_register_that_falls_is_an_event_and_late_readings_move_it() {
    let world = World::new(WATTLINE, Mode::Direct).await;
    let (plan, sensors) = plan(&["gas_volume"]);
    world.apply(std::slice::from_ref(&plan));
    let serve = world.serve().await;
    let controller = world.controller();
    let time = now() - 36_000;
    let mut sent = 0.0;
    let mut events = async |readings: &[(i64, f64)]| {
        for (hour, reading) in readings {
            let payload = json!({"time": time + hour * 3_600,
                "readings": [{"sensor_uuid": sensors[0], "meter_reading": reading}]});
            send(&controller, RecordKind::Readings, plan.uuid, payload).await;
            sent += 1.0;
        }
        until_fates(&serve, (sent, 0.0, 0.0, 0.0)).await;
        let rows = world
            .rows(&format!(
                "select kind, (extract(epoch from time)::bigint - {time}) / 3600 as hour \
                 from register_event order by time"
            ))
            .await;
        let text = |row: &Value| format!("{} {}", row["hour"], row["kind"].as_str().unwrap());
        rows.iter().map(text).collect::<Vec<_>>()
    };
    assert_eq!(events(&[(0, 99_990.0), (4, 12.0)]).await, ["4 rollover"]);
    // What came in between tells that the fall was earlier, and another one.
    assert_eq!(events(&[(2, 5.0)]).await, ["2 rollover"]);
    assert_eq!(
        events(&[(3, 7_000.0), (5, 0.0), (6, 400.0), (7, 300.0)]).await,
        ["2 rollover", "4 reset", "5 reset", "7 replacement"]
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn values_whose_mean_no_double_can_hold_stop_no_folding() {
    let world = World::new(WATTLINE, Mode::Direct).await;
    let (plan, sensors) = plan(&["temperature"]);
    world.apply(std::slice::from_ref(&plan));
    let serve = world.serve().await;
    let controller = world.controller();
    let quarter = (now() - 7_200) / 900 * 900;
    for (second, value) in [(0, 5e-324), (1, 0.0), (2, 0.0)] {
        let payload = json!({"time": quarter + second,
            "readings": [{"sensor_uuid": sensors[0], "value": value}]});
        send(&controller, RecordKind::Readings, plan.uuid, payload).await;
    }
    let folded = "select samples, mean from value_quarter";
    eventually(async || match world.rows(folded).await {
        rows if rows == [json!({"samples": 3, "mean": 0})] => Ok(()),
        other => Err(other),
    })
    .await;
    serve.ready().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn presence_that_changes_at_once_is_kept_in_its_order() {
    const CHANGES: usize = 600;
    let world = World::new(WATTLINE, Mode::Direct).await;
    let building = world.building();
    let serve = world.serve().await;
    let controller = world.controller();
    let online = |change: usize| change.is_multiple_of(3);
    for change in 0..CHANGES {
        let payload = json!({"online": online(change)});
        send(&controller, RecordKind::Presence, building, payload).await;
    }
    until_fates(&serve, (CHANGES as f64, 0.0, 0.0, 0.0)).await;
    let kept = world
        .rows("select online from presence order by received_at")
        .await;
    let expected: Vec<Value> = (0..CHANGES)
        .map(|change| json!({"online": online(change)}))
        .collect();
    assert_eq!(kept, expected);
}
