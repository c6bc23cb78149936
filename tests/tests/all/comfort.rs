//! Comfort over HTTP: the quarters of a day, by the building's timezone.

use crate::register_oracle::Days;
use crate::site::{Site, SiteSensor, value};
use domain::time::Timestamp;
use serde_json::{Value, json};
use testkit::BuildingPlan;
use uuid::Uuid;

const KINDS: [&str; 3] = ["temperature", "relative_humidity", "water_flow"];

fn at(seconds: i64) -> Timestamp {
    Timestamp::from_seconds(seconds)
}

/// A path to the read of a day.
fn day(sensor: &SiteSensor, offset: i64) -> String {
    format!(
        "comfort/history/day/?sensor_id={}&offset={offset}",
        sensor.id
    )
}

/// Stores a value in the middle of each quarter from `start` to `end`, seconds, and answers with the
/// body's values.
async fn fill(site: &Site, sensor: &SiteSensor, start: i64, end: i64) -> Vec<Value> {
    let quarters: Vec<i64> = (start..end).step_by(900).collect();
    let degrees = |quarter: &i64| (quarter / 900 % 400) as f64 / 10.0;
    let records = quarters
        .iter()
        .map(|quarter| value(at(quarter + 450), sensor, degrees(quarter)));
    site.ingest(records).await;
    let body = |quarter: &i64| json!({"datetime": quarter, "value": degrees(quarter)});
    quarters.iter().map(body).collect()
}

async fn days_have_their_quarters(days: Days, lengths: [usize; 3]) {
    let [_, first, second, third, end, _] = days.0;
    let site = Site::new("Europe/Amsterdam", &KINDS, end - 1).await;
    let sensor = &site.sensors().await[0];
    let expected = [
        (-2, first..second, fill(&site, sensor, first, second).await),
        (-1, second..third, fill(&site, sensor, second, third).await),
        (0, third..end, fill(&site, sensor, third, end).await),
    ];
    let lengths_found: Vec<usize> = expected.iter().map(|it| it.2.len()).collect();
    assert_eq!(lengths_found, lengths);
    // Right at once, half folded, and folded.
    for _ in 0..3 {
        for (offset, day_of, values) in &expected {
            let body = json!({"start_datetime": day_of.start, "end_datetime": day_of.end,
                "sensor_id": sensor.id, "sensor_uuid": sensor.uuid, "unit": "degrees Celsius",
                "values": values});
            assert_eq!(site.get(&day(sensor, *offset)).await, (200, body));
        }
        site.store.fold(at(third)).await.unwrap();
        site.fold().await;
    }
    let folded = site.world.count("select count(*) from value_quarter").await;
    assert!(folded > 280, "{folded} quarters are folded");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_day_that_loses_an_hour_has_92_quarters() {
    days_have_their_quarters(Days::SPRING, [96, 92, 96]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_day_that_wins_an_hour_has_100_quarters() {
    days_have_their_quarters(Days::AUTUMN, [96, 100, 96]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_quarter_is_the_mean_of_its_values_of_this_sensor_and_the_open_one_is_there_too() {
    let start = 1_780_000_200;
    let site = Site::new("UTC", &KINDS, start + 1_000).await;
    let sensors = site.sensors().await;
    let (warmth, damp) = (&sensors[0], &sensors[1]);
    site.ingest([
        value(at(start), warmth, 20.1),
        value(at(start + 899), warmth, 20.2),
        value(at(start + 900), warmth, -3.0),
        value(at(start), damp, 55.5),
    ])
    .await;
    let values = async |sensor| site.get(&day(sensor, 0)).await.1["values"].clone();
    let expected =
        json!([{"datetime": start, "value": 20.15}, {"datetime": start + 900, "value": -3.0}]);
    assert_eq!(values(warmth).await, expected);
    site.fold().await;
    assert_eq!(values(warmth).await, expected);
    assert_eq!(
        values(damp).await,
        json!([{"datetime": start, "value": 55.5}])
    );
    // A late value moves its quarter at once.
    site.ingest([value(at(start + 1), warmth, 20.45)]).await;
    assert_eq!(values(warmth).await[0]["value"], 20.25);
    site.fold().await;
    assert_eq!(values(warmth).await[0]["value"], 20.25);
    let (status, body) = site.get(&day(damp, 0)).await;
    assert_eq!((status, &body["unit"]), (200, &json!("percent")));
    assert_eq!(site.get(&day(warmth, -1)).await, (204, Value::Null));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_wrong_with_a_comfort_read_is_told_and_an_unknown_sensor_first() {
    let site = Site::new("UTC", &KINDS, 1_780_000_200).await;
    let sensors = site.sensors().await;
    let (warmth, flow) = (sensors[0].id, sensors[2].id);
    let path = |query: String| format!("comfort/history/day/{query}");
    let refused = async |query: String| site.refusal(&path(query)).await;
    let rule = |field: &str, code: &str| vec![(field.to_owned(), code.to_owned())];
    assert_eq!(refused(String::new()).await, rule("/sensor_id", "required"));
    let found = refused("?sensor_id=x".to_owned()).await;
    assert_eq!(found, rule("/sensor_id", "not_an_integer"));
    let found = refused(format!("?sensor_id={flow}")).await;
    assert_eq!(found, rule("/sensor_id", "not_a_comfort_sensor"));
    for offset in ["1", "-3"] {
        let found = refused(format!("?sensor_id={warmth}&offset={offset}")).await;
        assert_eq!(found, rule("/offset", "out_of_range"));
    }
    let unknown = format!("?sensor_id={}&offset=1", flow + 1_000);
    assert_eq!(site.get(&path(unknown)).await.0, 404);
    // Another building's sensor.
    let elsewhere = BuildingPlan {
        uuid: Uuid::new_v4(),
        sensor_hubs: json!([{"uuid": Uuid::new_v4(), "name": "Hub", "kind": "hub", "sensors": [
            {"sensor_uuid": Uuid::new_v4(), "name": "Warmth", "kind": "temperature",
             "min_interval": "minute"}]}]),
    };
    site.world.apply(&[elsewhere]);
    let foreign = site.world.count("select max(id) from sensor").await;
    assert!(foreign > flow);
    let foreign = path(format!("?sensor_id={foreign}"));
    assert_eq!(site.get(&foreign).await.0, 404);
    let none = path(format!("?sensor_id={warmth}"));
    assert_eq!(site.get(&none).await, (204, Value::Null));
}
