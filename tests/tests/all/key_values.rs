//! Key-values over HTTP: the newest registration of each key.

use crate::site::{Site, registered};
use domain::reading::Scalar;
use domain::time::Timestamp;
use serde_json::{Value, json};

const NOW: i64 = 1_780_000_000;

fn text(text: &str) -> Scalar {
    Scalar::Text(text.to_owned())
}

#[tokio::test(flavor = "multi_thread")]
async fn latest_gives_the_newest_registration_of_each_key_by_code_point() {
    let site = Site::new("UTC", &[], NOW).await;
    for read in ["actual", "latest"] {
        let nothing = (204, Value::Null);
        assert_eq!(site.get(&format!("keyvalue/{read}/")).await, nothing);
    }
    let at = |seconds: i64| Timestamp::from_micros((NOW - seconds) * 1_000_000 + 700_000);
    // Late, and in one message with what is new.
    site.ingest([
        registered(at(50), &[("mode", text("eco")), ("b", Scalar::Number(0.1))]),
        registered(
            at(90),
            &[("mode", text("off")), ("a", Scalar::Boolean(false))],
        ),
        registered(
            at(20),
            &[("Z", Scalar::Number(7.0)), ("é", text("\"\\\u{1F600}"))],
        ),
        registered(
            at(9_000),
            &[
                ("\u{10000}", Scalar::Number(-1e300)),
                ("\u{FFFD}", text("")),
            ],
        ),
    ])
    .await;
    let expected = json!([
        {"key": "Z", "value": 7, "datetime": NOW - 20},
        {"key": "a", "value": false, "datetime": NOW - 90},
        {"key": "b", "value": 0.1, "datetime": NOW - 50},
        {"key": "mode", "value": "eco", "datetime": NOW - 50},
        {"key": "é", "value": "\"\\\u{1F600}", "datetime": NOW - 20},
        {"key": "\u{FFFD}", "value": "", "datetime": NOW - 9_000},
        {"key": "\u{10000}", "value": -1e300, "datetime": NOW - 9_000},
    ]);
    assert_eq!(site.get("keyvalue/latest/").await, (200, expected.clone()));
    let recent = json!(expected.as_array().unwrap()[..5]);
    assert_eq!(site.get("keyvalue/actual/").await, (200, recent));
}

#[tokio::test(flavor = "multi_thread")]
async fn actual_gives_what_is_an_hour_old_and_nothing_older() {
    let site = Site::new("UTC", &[], NOW).await;
    let time = Timestamp::from_seconds(NOW - 3_600);
    let earlier = Timestamp::from_micros(time.micros() - 1);
    site.ingest([registered(time, &[("inside", Scalar::Boolean(true))])])
        .await;
    site.ingest([registered(earlier, &[("outside", Scalar::Boolean(true))])])
        .await;
    let inside = json!({"key": "inside", "value": true, "datetime": NOW - 3_600});
    let outside = json!({"key": "outside", "value": true, "datetime": NOW - 3_601});
    assert_eq!(site.get("keyvalue/actual/").await, (200, json!([inside])));
    site.api.advance_seconds(1);
    assert_eq!(site.get("keyvalue/actual/").await, (204, Value::Null));
    let both = json!([inside, outside]);
    assert_eq!(site.get("keyvalue/latest/").await, (200, both));
}
