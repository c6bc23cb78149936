//! The electricity reads over a real database.

use crate::WATTLINE;
use crate::records::{full, meter, now};
use domain::reading::Record;
use domain::record::{Battery, MainMeter, Solar, Status, TelemetryRecord};
use domain::time::Timestamp;
use serde_json::{Value, json};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use store::{Batch, Incoming, Letter, Store};
use testkit::{BuildingPlan, Client, Mode, World, eventually};
use uuid::Uuid;

async fn served() -> (World, testkit::Running, Uuid, Client) {
    let world = World::new(WATTLINE, Mode::Direct).await;
    let building = world.building();
    let serve = world.serve().await;
    let client = world.client().await;
    (world, serve, building, client)
}

async fn send(world: &World, building: Uuid, records: &[String]) {
    let before = world.count("select count(*) from telemetry_record").await;
    let controller = world.controller();
    for record in records {
        controller.telemetry(building, record.clone()).await;
    }
    let expected = before + i64::try_from(records.len()).unwrap();
    eventually(
        async || match world.count("select count(*) from telemetry_record").await {
            count if count == expected => Ok(()),
            other => Err(other),
        },
    )
    .await;
}

async fn sensor(client: &Client, building: Uuid, kind: &str) -> String {
    let (_, sensors) = client.get(&format!("/buildings/{building}/sensors/")).await;
    let found = sensors
        .as_array()
        .unwrap()
        .iter()
        .find(|it| it["kind"] == kind);
    found.unwrap()["sensor_uuid"].as_str().unwrap().to_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn actual_gives_nothing_older_than_an_hour_and_latest_gives_it_however_old() {
    let (world, _serve, building, client) = served().await;
    let electricity = format!("/buildings/{building}/electricity");
    assert_eq!(
        client.get(&format!("{electricity}/latest/")).await,
        (204, Value::Null)
    );
    let time = now() - 3_700;
    send(&world, building, &[meter(time, -40)]).await;
    assert_eq!(
        client.get(&format!("{electricity}/actual/")).await,
        (204, Value::Null)
    );
    let expected = json!({"datetime": time, "value": -40, "delivery": 0, "return_delivery": 40,
                          "consumption": 0});
    assert_eq!(
        client.get(&format!("{electricity}/latest/")).await,
        (200, expected)
    );
    let uuid = sensor(&client, building, "return_delivery").await;
    let query = format!("?sensor_uuid={uuid}");
    let sensors = format!("{electricity}/sensors");
    assert_eq!(
        client.get(&format!("{sensors}/actual/{query}")).await,
        (204, Value::Null)
    );
    let expected = json!([{"sensor_uuid": uuid, "energy_method": "return_delivery",
                           "datetime": time, "value": 40}]);
    assert_eq!(
        client.get(&format!("{sensors}/latest/{query}")).await,
        (200, expected)
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_combined_value_has_the_parts_of_120_seconds_and_the_time_of_the_oldest() {
    let (world, _serve, building, client) = served().await;
    let path = format!("/buildings/{building}/electricity/actual/");
    let time = now() - 200;
    send(
        &world,
        building,
        &[
            full(time, 100, 200, -300),
            format!(
                r#"{{"time":{},"solar":{{"status":"degraded","active_power_w":-310}}}}"#,
                time + 1
            ),
            meter(time + 121, 150),
            // Without any measurement: moves no window.
            format!(
                r#"{{"time":{},"battery":{{"status":"unavailable","active_power_w":9}}}}"#,
                time + 190
            ),
        ],
    )
    .await;
    // The battery's last sample is 121 s older than the newest: out, and consumption with it.
    let expected = json!({"datetime": time + 1, "value": 150, "delivery": 150, "return_delivery": 0,
                          "production": 310});
    assert_eq!(client.get(&path).await, (200, expected));
    let uuid = sensor(&client, building, "consumption").await;
    let read = format!("/buildings/{building}/electricity/sensors/latest/?sensor_uuid={uuid}");
    assert_eq!(client.get(&read).await, (204, Value::Null));
    send(
        &world,
        building,
        &[format!(
            r#"{{"time":{},"battery":{{"status":"available","active_power_w":-20}}}}"#,
            time + 100
        )],
    )
    .await;
    let expected = json!([{"sensor_uuid": uuid, "energy_method": "consumption",
                           "datetime": time + 1, "value": 150 + 310 + 20}]);
    assert_eq!(client.get(&read).await, (200, expected));
}

#[tokio::test(flavor = "multi_thread")]
async fn minute_aggregates_are_means_of_ended_minutes_and_combine_exactly() {
    let (world, _serve, building, client) = served().await;
    let minute = now() / 60 * 60 - 600;
    send(
        &world,
        building,
        &[
            full(minute + 1, 100, 0, -10),
            full(minute + 2, 101, 0, -10),
            // Only the meter has this minute; one that has not ended does not count.
            meter(minute + 60, 900),
            full(now() / 60 * 60 + 120, 7_000, 0, 0),
        ],
    )
    .await;
    let (delivery, consumption) = (
        sensor(&client, building, "delivery").await,
        sensor(&client, building, "consumption").await,
    );
    let path = format!(
        "/buildings/{building}/electricity/sensors/actual/?aggregate=minute&sensor_uuid={delivery},{consumption}&sensor_uuid={delivery}"
    );
    let expected = |delivery_at: i64, value: i64| {
        json!([
            {"sensor_uuid": delivery, "energy_method": "delivery", "datetime": delivery_at, "value": value},
            // 100.5 + 10: combined exactly, rounded once, half away from zero.
            {"sensor_uuid": consumption, "energy_method": "consumption", "datetime": minute, "value": 111},
        ])
    };
    // Right at once, folded or not, and the same afterwards.
    assert_eq!(client.get(&path).await, (200, expected(minute + 60, 900)));
    eventually(
        async || match world.count("select count(*) from minute_bucket").await {
            4 => Ok(()),
            other => Err(other),
        },
    )
    .await;
    assert_eq!(client.get(&path).await, (200, expected(minute + 60, 900)));
}

#[tokio::test(flavor = "multi_thread")]
async fn sensors_of_the_fleet_file_are_fed_before_the_service_adds_any() {
    let world = World::new(WATTLINE, Mode::Direct).await;
    let (named, hub) = (Uuid::new_v4(), Uuid::new_v4());
    let mut plan = BuildingPlan::new();
    plan.sensor_hubs = json!([{"uuid": hub, "name": "Main meter", "kind": "smart_meter", "sensors": [
        {"sensor_uuid": named, "name": "Delivery", "kind": "delivery", "min_interval": "minute",
         "meter_name": "Main meter", "tariff": null}]}]);
    world.apply(&[plan.clone()]);
    let _serve = world.serve().await;
    let client = world.client().await;
    let kinds = async || {
        let (_, sensors) = client
            .get(&format!("/buildings/{}/sensors/", plan.uuid))
            .await;
        let sensors = sensors.as_array().unwrap().clone();
        sensors
            .iter()
            .map(|it| it["kind"].as_str().unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!(kinds().await, ["delivery", "consumption"]);
    send(&world, plan.uuid, &[full(now(), 5, 6, -7)]).await;
    let mut all = kinds().await;
    assert_eq!(all[0], "delivery");
    all.sort_unstable();
    assert_eq!(
        all,
        [
            "charge",
            "consumption",
            "delivery",
            "discharge",
            "production",
            "return_delivery"
        ]
    );
    let read = format!(
        "/buildings/{}/electricity/sensors/latest/?sensor_uuid={named}",
        plan.uuid
    );
    assert_eq!(client.get(&read).await.1[0]["value"], 5);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reader_never_sees_a_half_applied_batch() {
    const BATCHES: i64 = 150;
    let world = World::new(WATTLINE, Mode::Direct).await;
    let building = world.building();
    let store = Store::open(&world.settings["WATTLINE_DATABASE_URL"], 4).unwrap();
    let begin = now() - 86_400;
    let power = |number: i64| i32::try_from(number).unwrap();
    let record = |time: i64, power_w: i32| TelemetryRecord {
        time: Timestamp::from_seconds(time),
        main_meter: Some(MainMeter {
            status: Status::Available,
            active_power_w: Some(power_w),
        }),
        battery: Some(Battery {
            status: Status::Available,
            active_power_w: Some(power_w),
            active_power_setpoint_w: None,
            baseline_power_w: None,
            soc_percent: None,
            charge_limit_w: None,
            remaining_charge_time_s: None,
            discharge_limit_w: None,
            remaining_discharge_time_s: None,
        }),
        solar: Some(Solar {
            status: Status::Available,
            active_power_w: Some(power_w),
            active_power_setpoint_w: None,
            rated_power_w: None,
            min_power_w: None,
            max_power_w: None,
            baseline_power_w: None,
        }),
    };
    let looks = AtomicU64::new(0);
    let writing = async {
        for number in 0..BATCHES {
            // The reader looks at least once in a while, however the machine is loaded.
            let before = looks.load(Ordering::SeqCst);
            if number % 10 == 5 {
                eventually(async || match looks.load(Ordering::SeqCst) {
                    now if now > before => Ok(()),
                    now => Err(now),
                })
                .await;
            }
            // Ten records a batch, all of the batch's power: a reader sees ten more or none.
            let records = (0..10).map(|second| Incoming {
                building,
                record: Record::Telemetry(record(begin + number * 10 + second, power(number))),
                letter: Letter {
                    building: Some(building),
                    source: String::new(),
                    received_at: Timestamp::from_seconds(now()),
                    traceparent: None,
                    redelivered: false,
                    payload: Vec::new(),
                    kept_as: None,
                },
            });
            let batch = Batch {
                records: records.collect(),
                ..Batch::default()
            };
            store
                .ingest(&batch, Duration::from_secs(7 * 86_400))
                .await
                .unwrap();
        }
    };
    let reading = async {
        loop {
            let (_, samples) = store.sensors_and_samples(building).await.unwrap();
            if let Some(first) = samples.first() {
                assert_eq!(samples.len(), 3);
                assert!(
                    samples
                        .iter()
                        .all(|it| (it.time, it.power_w) == (first.time, first.power_w))
                );
                assert_eq!(
                    (first.time.seconds() - begin) % 10,
                    9,
                    "the batch's last record"
                );
                looks.fetch_add(1, Ordering::SeqCst);
                if first.power_w == power(BATCHES - 1) {
                    return;
                }
            }
        }
    };
    tokio::join!(writing, reading);
}

#[tokio::test(flavor = "multi_thread")]
async fn telemetry_feeds_the_sensor_that_the_fleet_file_names_now() {
    let world = World::new(WATTLINE, Mode::Direct).await;
    let sensors: Vec<Uuid> = (0..3).map(|_| Uuid::new_v4()).collect();
    let mut plan = BuildingPlan::new();
    let hub = Uuid::new_v4();
    let mut apply = |order: &[usize]| {
        let named: Vec<Value> = order
            .iter()
            .map(|it| json!({"sensor_uuid": sensors[*it], "name": "Roof", "kind": "production"}))
            .collect();
        let hubs = json!([{"uuid": hub, "name": "Solar", "kind": "inverter", "sensors": named}]);
        plan.sensor_hubs = hubs;
        world.apply(std::slice::from_ref(&plan));
        plan.uuid
    };
    let building = apply(&[0, 1]);
    let _serve = world.serve().await;
    send(&world, building, &[full(now(), 5, 6, -7)]).await;
    let client = world.client().await;
    for (order, known, fed) in [
        (&[0, 1][..], 2, 0),
        (&[1, 0], 2, 1),
        (&[2], 3, 2),
        (&[2], 3, 2),
    ] {
        apply(order);
        let known: Vec<String> = sensors[..known].iter().map(Uuid::to_string).collect();
        let read = format!(
            "/buildings/{building}/electricity/sensors/latest/?sensor_uuid={}",
            known.join(",")
        );
        let (status, body) = client.get(&read).await;
        assert_eq!(status, 200, "{order:?}");
        assert_eq!(body.as_array().unwrap().len(), 1);
        assert_eq!(
            body[0]["sensor_uuid"],
            sensors[fed].to_string(),
            "{order:?}"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_minute_read_of_several_sensors_is_of_one_moment() {
    let (world, _serve, building, client) = served().await;
    let minute = now() / 60 * 60 - 600;
    send(&world, building, &[meter(minute, 5)]).await;
    let (delivery, consumption) = (
        sensor(&client, building, "delivery").await,
        sensor(&client, building, "consumption").await,
    );
    let path = format!(
        "/buildings/{building}/electricity/sensors/actual/?aggregate=minute&sensor_uuid={delivery},{consumption}"
    );
    let controller = world.controller();
    let writing = async {
        for second in 1..50 {
            let record = meter(minute + second, i32::try_from(second).unwrap() * 40);
            controller.telemetry(building, record).await;
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    let reading = async {
        for _ in 0..150 {
            let (_, body) = client.get(&path).await;
            // With a meter only, what is used is what is delivered.
            assert_eq!(body[0]["value"], body[1]["value"], "{body}");
        }
    };
    tokio::join!(writing, reading);
}
