//! The key-value reads.

use crate::description::{Answer, Description};
use crate::example;
use crate::key_values::KeyValueBody;
use serde_json::json;

pub(crate) fn actual() -> Description {
    described(
        "readActualKeyValues",
        "Reads the key-values of a building, at most an hour old",
    )
}

pub(crate) fn latest() -> Description {
    described(
        "readLatestKeyValues",
        "Reads the key-values of a building, however old",
    )
}

fn described(id: &'static str, summary: &'static str) -> Description {
    let registered = json!([
        {"key": "boost", "value": false, "datetime": example::MEASURED},
        {"key": "curve", "value": 1.4, "datetime": example::MEASURED},
        {"key": "mode", "value": "eco", "datetime": example::MEASURED},
    ]);
    Description {
        id,
        subject: "Key-values",
        summary,
        text: "The newest registration of each key, by key.",
        answers: vec![
            Answer::ok::<Vec<KeyValueBody>>("The newest registrations.", registered),
            Answer::nothing("There is no registration to give."),
        ],
        ..Description::default()
    }
}
