//! Any query string: every read takes or refuses it, and names parameters that there are.

use api::untrusted::{Answer, reads};
use domain::sensor::SensorKind;
use http::Uri;
use store::{HubOfSensor, Sensor, SensorOrigin};
use uuid::Uuid;

const PARAMETERS: [&str; 9] = [
    "/aggregate",
    "/cursor",
    "/from",
    "/min_interval",
    "/offset",
    "/sensor_id",
    "/sensor_uuid",
    "/timestamp",
    "/until",
];

fn sensor(number: u8, kind: SensorKind) -> Sensor {
    Sensor {
        id: i64::from(number),
        sensor_uuid: Uuid::from_u128(u128::from(number)),
        name: "Sensor".to_owned(),
        kind,
        min_interval: "minute".to_owned(),
        meter_name: None,
        tariff: None,
        origin: SensorOrigin::Fleet,
        hub: HubOfSensor {
            uuid: Uuid::from_u128(99),
            name: "Hub".to_owned(),
            kind: "hub".to_owned(),
        },
    }
}

/// Asserts it.
pub fn check(query: &[u8]) {
    let address = [b"/?", query].concat();
    // What is no address comes to no handler.
    let Ok(uri) = Uri::try_from(address) else {
        return;
    };
    let sensors = [
        sensor(1, SensorKind::Delivery),
        sensor(2, SensorKind::Temperature),
    ];
    for answer in reads(&uri, &sensors) {
        match answer {
            Answer::Taken => {}
            Answer::Refused(places) => {
                assert!(
                    places.iter().all(|it| PARAMETERS.contains(&it.as_str())),
                    "{places:?}"
                );
            }
            Answer::Failed(cause) => panic!("{cause}"),
        }
    }
}
