//! Any body of an action: what is taken, the OpenAPI document describes; what is refused, is told where; nothing fails.

use api::untrusted::{Answer, action};
use domain::sensor::SensorKind;
use domain::time::Timestamp;
use jsonschema::Validator;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::sync::LazyLock;
use uuid::Uuid;

const NOW: i64 = 1_700_000_000;

static SCHEMA: LazyLock<Validator> = LazyLock::new(|| {
    let text = include_str!("../../schemas/openapi.json");
    let document: Value = serde_json::from_str(text).unwrap();
    let path = "/paths/~1public-api~1buildings~1{building}~1actions~1/post/requestBody/content/application~1json/schema";
    let mut schema = document.pointer(path).unwrap().clone();
    if let Value::Object(properties) = &mut schema {
        properties.insert("components".to_owned(), document["components"].clone());
    }
    jsonschema::draft202012::new(&schema).unwrap()
});

/// Asserts it.
pub fn check(body: &[u8]) {
    let sensors = HashMap::from([
        (Uuid::from_u128(1), SensorKind::EvSocket),
        (Uuid::from_u128(2), SensorKind::Setpoint),
    ]);
    match action(body, &sensors, Timestamp::from_seconds(NOW)) {
        Answer::Taken => {
            let body: Value = serde_json::from_slice(body).unwrap_or_else(|_| json!(null));
            // A number that no double can hold cannot be read here, and stands where it does not count.
            if !body.is_null() {
                let wrong: Vec<String> =
                    SCHEMA.iter_errors(&body).map(|it| it.to_string()).collect();
                assert!(wrong.is_empty(), "taken, and not described: {wrong:?}");
            }
        }
        Answer::Refused(places) => {
            assert!(!places.is_empty());
            assert!(places.iter().all(|it| it.is_empty() || it.starts_with('/')));
        }
        Answer::Failed(cause) => panic!("{cause}"),
    }
}
