//! Late data corrects what it touches.

use crate::WATTLINE;
use crate::records::{meter, now};
use serde_json::{Value, json};
use testkit::{Edition, Mode, World, eventually};

async fn a_late_record_amends(edition: Edition, hours_late: i64) {
    let world = World::on(WATTLINE, Mode::Direct, edition).await;
    let building = world.building();
    let _serve = world.serve().await;
    let controller = world.controller();
    let quarter = (now() - hours_late * 3_600) / 900 * 900;
    let minute = quarter + 300;
    for (offset, power_w) in [(10, 100), (20, 200)] {
        controller
            .telemetry(building, meter(minute + offset, power_w))
            .await;
    }
    let bucket = async |table: &str| -> Option<Value> {
        let query = format!(
            "select samples, positive_sum_w, covered_us, positive_energy_wus, revision from {table}"
        );
        world.rows(&query).await.pop()
    };
    let expect = async |table: &str, samples: i64| {
        eventually(async || match bucket(table).await {
            Some(row) if row["samples"] == samples => Ok(row),
            other => Err(other),
        })
        .await
    };
    // The first two may have been folded one by one.
    let mut revisions = Vec::new();
    for table in ["minute_bucket", "quarter_bucket"] {
        let row = expect(table, 2).await;
        let revision = row["revision"].as_i64().unwrap();
        let before = json!({
            "samples": 2, "positive_sum_w": 300, "covered_us": 10_000_000,
            "positive_energy_wus": 1_000_000_000, "revision": revision,
        });
        assert_eq!(row, before, "{table}");
        revisions.push((table, revision));
    }

    controller
        .telemetry(building, meter(minute + 15, 600))
        .await;
    for (table, revision) in revisions {
        let after = json!({
            "samples": 3, "positive_sum_w": 900, "covered_us": 10_000_000,
            "positive_energy_wus": 3_500_000_000_i64, "revision": revision + 1,
        });
        assert_eq!(expect(table, 3).await, after, "{table}");
    }
    let client = world.client().await;
    let (_, sensors) = client.get(&format!("/buildings/{building}/sensors/")).await;
    let delivery = sensors
        .as_array()
        .unwrap()
        .iter()
        .find(|it| it["kind"] == "delivery")
        .unwrap();
    let path = format!(
        "/buildings/{building}/electricity/sensors/latest/?aggregate=minute&sensor_uuid={}",
        delivery["sensor_uuid"].as_str().unwrap()
    );
    let (status, read) = client.get(&path).await;
    assert_eq!(
        (status, &read[0]["value"], &read[0]["datetime"]),
        (200, &json!(300), &json!(minute))
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_late_record_amends_its_minute_and_its_quarter_and_raises_their_revision() {
    a_late_record_amends(Edition::Plain, 2).await;
    a_late_record_amends(Edition::Timescale, 2).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_record_forty_eight_hours_late_amends_what_it_touches() {
    a_late_record_amends(Edition::Plain, 48).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn coverage_counts_time_across_the_border_of_two_minutes() {
    let world = World::new(WATTLINE, Mode::Direct).await;
    let building = world.building();
    let _serve = world.serve().await;
    let controller = world.controller();
    let minute = (now() - 7_200) / 900 * 900 + 60;
    // One sample a minute, then a gap of more than 120 s.
    for offset in [30, 90, 150, 400] {
        controller
            .telemetry(building, meter(minute + offset, 60))
            .await;
    }
    let rows = eventually(async || {
        let query = "select extract(epoch from start)::bigint - $1 as at, covered_us / 1000000 as s, \
                     positive_energy_wus / 60000000 as ws from minute_interval order by start";
        let rows = world.rows(&query.replace("$1", &minute.to_string())).await;
        if rows.len() == 4 { Ok(rows) } else { Err(rows) }
    })
    .await;
    let expected = [(0, 30), (60, 60), (120, 30), (360, 0)]
        .map(|(at, seconds)| json!({"at": at, "s": seconds, "ws": seconds}));
    assert_eq!(rows, expected);
}
