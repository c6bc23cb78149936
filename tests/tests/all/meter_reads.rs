//! Meter readings over HTTP.

use crate::register_oracle::Days;
use crate::site::{Site, SiteSensor, metered, read, reading, register};
use domain::reading::SensorReading;
use domain::record::Status;
use domain::time::Timestamp;
use serde_json::{Value, json};

const PATH: &str = "electricity/meterreadings/";
const KINDS: [&str; 4] = ["delivery", "heat", "ev_socket", "temperature"];

fn at(seconds: i64) -> Timestamp {
    Timestamp::from_seconds(seconds)
}

fn asked(timestamp: i64, min_interval: &str) -> String {
    format!("{PATH}?timestamp={timestamp}&min_interval={min_interval}")
}

/// The body of a reading of a sensor without a meter name.
fn body(sensor: &SiteSensor, datetime: i64, value: f64, method: Option<&str>) -> Value {
    json!({"meter_name": null, "sensor_uuid": sensor.uuid, "datetime": datetime, "value": value,
        "energy_method": method, "tariff": null})
}

/// The same for the first sensor, which has a meter name and a tariff.
fn named(sensor: &SiteSensor, datetime: i64, value: f64) -> Value {
    let mut body = body(sensor, datetime, value, Some("delivery"));
    body["meter_name"] = json!("E0042");
    body["tariff"] = json!("low");
    body
}

fn socket(time: Timestamp, sensor: &SiteSensor, power_w: i32) -> domain::reading::Record {
    let reading = SensorReading {
        power_w: Some(power_w),
        ..reading(sensor.uuid)
    };
    read(time, reading)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_virtual_register_counts_from_0_at_the_first_sample_in_kwh() {
    let quarter = 1_780_000_200;
    let now = quarter + 4_000;
    let site = Site::new("UTC", &KINDS, now).await;
    assert_eq!(site.get(PATH).await, (204, Value::Null));
    // 60 s at 3.6 MW are 60 kWh; exactly 120 s count, a microsecond more does not.
    site.ingest([
        metered(at(quarter + 30), 3_600_000),
        metered(at(quarter + 150), 1_800_000),
        metered(
            Timestamp::from_micros((quarter + 270) * 1_000_000 + 1),
            3_600,
        ),
        metered(at(quarter + 300), -7_200),
    ])
    .await;
    let sensors = site.sensors().await;
    // The service has added one for what goes back; the combined one has no register.
    let returned = sensors.iter().find(|it| it.kind == "return_delivery");
    let returned = returned.unwrap();
    let expect = |datetime: i64, delivered: f64, given_back: f64| {
        json!([
            named(&sensors[0], datetime, delivered),
            body(returned, datetime, given_back, Some("return_delivery")),
        ])
    };
    // Each minute reads at its start what was counted until then.
    for (minute, delivered) in [(0, 0.0), (120, 90.0), (240, 120.0), (300, 120.03)] {
        let found = site.get(&asked(quarter + minute + 59, "minute")).await;
        assert_eq!(
            found,
            (200, expect(quarter + minute, delivered, 0.0)),
            "{minute}"
        );
    }
    // Without a sample there is no reading, and the first one of the interval counts.
    assert_eq!(site.get(&asked(quarter + 60, "minute")).await.0, 204);
    let first = (200, expect(quarter, 0.0, 0.0));
    assert_eq!(site.get(&asked(quarter + 899, "quarter")).await, first);
    assert_eq!(site.get(&asked(quarter, "day")).await, first);
    assert_eq!(
        site.get(&format!("{PATH}?timestamp={quarter}")).await,
        first
    );
    assert_eq!(site.get(&asked(quarter + 900, "quarter")).await.0, 204);
    assert_eq!(site.get(&asked(quarter - 1, "quarter")).await.0, 204);
    // The newest ended interval: of minutes the last, of quarters the only one; today has not ended.
    let last_minute = (200, expect(quarter + 300, 120.03, 0.0));
    let last = async |interval: &str| site.get(&format!("{PATH}?min_interval={interval}")).await;
    assert_eq!(last("minute").await, last_minute);
    assert_eq!(last("quarter").await, first);
    assert_eq!(last("day").await, (204, Value::Null));
    assert_eq!(site.get(&format!("{PATH}latest/")).await, last_minute);
    // The same when everything is folded.
    site.fold().await;
    assert_eq!(last("minute").await, last_minute);
    assert_eq!(site.get(&format!("{PATH}latest/")).await, last_minute);
    // Late data moves what comes after it: the gap of 120.000001 s is closed.
    site.ingest([metered(at(quarter + 200), 0)]).await;
    let late = site.get(&asked(quarter + 300, "minute")).await;
    assert_eq!(late, (200, expect(quarter + 300, 145.03, 0.0)));
}

#[tokio::test(flavor = "multi_thread")]
async fn own_registers_read_as_sent_and_end_the_virtual_one() {
    let quarter = 1_780_000_200;
    let site = Site::new("UTC", &KINDS, quarter + 1_000).await;
    let sensors = site.sensors().await;
    let (delivery, heat, plug) = (&sensors[0], &sensors[1], &sensors[2]);
    let half_past = Timestamp::from_micros((quarter + 61) * 1_000_000 + 500_000);
    site.ingest([
        socket(at(quarter), plug, 7_200),
        socket(at(quarter + 100), plug, 7_200),
        register(half_past, heat, 12.345),
        register(at(quarter + 62), heat, 99.0),
        register(at(quarter + 62), delivery, 15_324.5),
    ])
    .await;
    let found = site.get(&asked(quarter, "quarter")).await;
    let expected = json!([
        named(delivery, quarter + 62, 15_324.5),
        body(heat, quarter + 61, 12.345, None),
        body(plug, quarter, 0.0, None),
    ]);
    assert_eq!(found, (200, expected));
    let newest = json!([
        named(delivery, quarter + 62, 15_324.5),
        body(heat, quarter + 62, 99.0, None),
        body(plug, quarter + 60, 0.12, None),
    ]);
    assert_eq!(site.get(&format!("{PATH}latest/")).await, (200, newest));
    // A register that begins anew reads what it reads, and never below 0; telemetry does not touch it.
    site.ingest([
        register(at(quarter + 120), delivery, -0.0),
        metered(at(quarter + 300), 9_000),
        metered(at(quarter + 360), 9_000),
        register(at(quarter + 130), plug, 4.0),
    ])
    .await;
    let (_, newest) = site.get(&format!("{PATH}latest/")).await;
    let found: Vec<_> = newest.as_array().unwrap().iter().take(3).collect();
    let expected = [
        named(delivery, quarter + 120, 0.0),
        body(heat, quarter + 62, 99.0, None),
        body(plug, quarter + 130, 4.0, None),
    ];
    assert_eq!(found, expected.iter().collect::<Vec<_>>());
    let text = site.answer(&format!("{PATH}latest/")).await.text;
    assert!(!text.contains(":-0"), "{text}");
}

#[tokio::test(flavor = "multi_thread")]
async fn actual_gives_readings_of_an_hour_and_latest_however_old() {
    let minute = 1_780_000_020;
    let site = Site::new("UTC", &KINDS, minute + 3_600).await;
    let sensors = site.sensors().await;
    let own = Timestamp::from_micros((minute - 1) * 1_000_000 + 999_999);
    site.ingest([
        register(own, &sensors[1], 5.0),
        socket(at(minute + 59), &sensors[2], 1),
    ])
    .await;
    let plug = body(&sensors[2], minute, 0.0, None);
    let heat = body(&sensors[1], minute - 1, 5.0, None);
    let actual = format!("{PATH}actual/");
    assert_eq!(site.get(&actual).await, (200, json!([plug])));
    site.api.advance_seconds(1);
    assert_eq!(site.get(&actual).await, (204, Value::Null));
    let latest = site.get(&format!("{PATH}latest/")).await;
    assert_eq!(latest, (200, json!([heat, plug])));
}

#[tokio::test(flavor = "multi_thread")]
async fn days_are_those_of_the_buildings_timezone() {
    let [_, saturday, sunday, monday, tuesday, _] = Days::SPRING.0;
    let site = Site::new("Europe/Amsterdam", &KINDS, monday + 100).await;
    let heat = &site.sensors().await[1];
    site.ingest([
        register(at(saturday), heat, 1.0),
        register(at(sunday - 1), heat, 2.0),
        register(at(sunday + 7_200), heat, 3.0),
        register(at(monday + 5), heat, 4.0),
    ])
    .await;
    let of = async |moment: i64| site.get(&asked(moment, "day")).await;
    let expect = |datetime: i64, value: f64| (200, json!([body(heat, datetime, value, None)]));
    assert_eq!(of(saturday).await, expect(saturday, 1.0));
    assert_eq!(of(sunday - 1).await, expect(saturday, 1.0));
    assert_eq!(of(sunday).await, expect(sunday + 7_200, 3.0));
    assert_eq!(of(monday - 1).await, expect(sunday + 7_200, 3.0));
    assert_eq!(of(monday).await, expect(monday + 5, 4.0));
    assert_eq!(of(tuesday).await, (204, Value::Null));
    // The last day that has ended is Sunday; of a building that is silent for long, its last one.
    assert_eq!(site.get(PATH).await, expect(sunday + 7_200, 3.0));
    site.api.advance_seconds(600);
    assert_eq!(site.get(PATH).await, expect(sunday + 7_200, 3.0));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_wrong_with_a_meter_read_is_told_and_odd_times_have_no_reading() {
    let site = Site::new("America/New_York", &KINDS, 1_780_000_000).await;
    site.ingest([metered(at(1_779_999_000), 5)]).await;
    let refused = async |query: &str| site.refusal(&format!("{PATH}?{query}")).await;
    let rule = |field: &str, code: &str| vec![(field.to_owned(), code.to_owned())];
    for query in [
        "timestamp=x",
        "timestamp=",
        "timestamp=1780000000.5",
        "timestamp=1e9",
    ] {
        assert_eq!(
            refused(query).await,
            rule("/timestamp", "not_an_integer"),
            "{query}"
        );
    }
    let found = refused("timestamp=1780000000000").await;
    assert_eq!(found, rule("/timestamp", "out_of_range"));
    let found = refused("timestamp=1&timestamp=2").await;
    assert_eq!(found, rule("/timestamp", "repeated"));
    let found = refused("min_interval=hour").await;
    assert_eq!(found, rule("/min_interval", "not_a_choice"));
    assert_eq!(refused("timestamp=x&min_interval=y").await.len(), 2);
    for timestamp in [0, -1, -99_999_999_999, 1_780_600_000, 99_999_999_999] {
        for interval in ["minute", "quarter", "day"] {
            let found = site.get(&asked(timestamp, interval)).await;
            assert_eq!(found, (204, Value::Null), "{timestamp} {interval}");
        }
    }
    let unavailable = domain::record::TelemetryRecord {
        main_meter: Some(domain::record::MainMeter {
            status: Status::Unavailable,
            active_power_w: Some(1),
        }),
        battery: None,
        solar: None,
        time: at(1_779_999_900),
    };
    // What is no measurement is no sample either.
    site.ingest([domain::reading::Record::Telemetry(unavailable)])
        .await;
    assert_eq!(site.get(&asked(1_779_999_900, "minute")).await.0, 204);
}
