//! Good bodies of actions, of every family.

use super::requests::Known;
use crate::contract::Contract;
use crate::openapi::examples::NOW;
use rand::RngExt as _;
use rand::seq::IndexedRandom as _;
use rand_chacha::ChaCha8Rng;
use serde_json::{Value, json};

const HOUR: i64 = 3_600;

/// The sensors of a kind that the examples' building has.
pub(super) fn kinds(contract: &Contract, kind: &str) -> Vec<String> {
    let told = contract.operation("listSensors").told;
    let example = &told["responses"]["200"]["content"]["application/json"]["example"];
    let sensors = example.as_array().unwrap().iter();
    let of_kind = sensors.filter(|it| it["kind"] == kind);
    of_kind
        .map(|it| it["sensor_uuid"].as_str().unwrap().to_owned())
        .collect()
}

/// A good body.
pub(super) fn wish(random: &mut ChaCha8Rng, known: &Known) -> Value {
    let watts = random.random_range(0..=i32::MAX);
    let seconds = random.random_range(60..=i32::MAX);
    match random.random_range(0..9) {
        0 => json!({"inverters_set_power_percentage": random.random_range(0.0..=100.0)}),
        1 => json!({"inverters_set_power_percentage": 50, "inverters_set_power_timeout": seconds,
                    "inverters_set_power_timeout_percentage": random.random_range(0..=100)}),
        2 => json!({"inverters_set_power_watts": watts, "inverters_set_power_timeout": null}),
        3 => {
            json!({"battery_set_power_discharge_watts": watts, "battery_set_power_timeout": seconds})
        }
        4 => json!({"grid_target_return_delivery_watts": watts, "grid_target_duration": seconds}),
        5 => json!({"grid_target_cancel": true}),
        6 => json!({"ev_sockets_update": [{
            "sensor_uuid": known.sockets.choose(random).unwrap(),
            "ev_socket_set_power_charge_watts": watts, "ev_socket_set_power_timeout": seconds,
        }]}),
        7 => {
            let values = json!([{"sensor_uuid": known.setpoints.choose(random).unwrap(),
                                 "value": random.random_range(-1e9..1e9)}]);
            json!({"setpoints_update": {"setpoints": values, "fallback_setpoints": values,
                                        "fallback_timeout_minutes": random.random_range(0..=10_080)}})
        }
        _ => {
            // 2023-11-14T23:00:00Z, midnight in Amsterdam; no clock changes within the days that follow.
            let midnight = (NOW / 86_400) * 86_400 + 23 * HOUR;
            let start = midnight + random.random_range(0..60) * 4 * HOUR;
            json!({"fcr_planning": {"power": watts, "start_timestamp": start,
                   "stop_timestamp": start + 4 * HOUR, "enabled": random.random_bool(0.7)}})
        }
    }
}
