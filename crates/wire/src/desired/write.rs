//! From a desired state to its JSON tree.

use super::Document;
use domain::control::{
    Battery, BatteryPower, Fallback, FcrBlock, GridTarget, GridTargetPower, InverterPower,
    Inverters, SetpointValue, Setpoints, Socket,
};
use domain::grid_limit::GridLimit;
use domain::time::Timestamp;
use serde_json::{Map, Value, json};

type Object = Map<String, Value>;

/// Below it every whole double is an integer that JSON's readers keep exactly.
const EXACT_INTEGERS: f64 = 9_007_199_254_740_992.0;

/// The whole document; families with nothing in force are left out.
pub(super) fn document(document: &Document) -> Object {
    let desired = &document.desired;
    let mut tree = Object::new();
    put(&mut tree, "revision", document.revision);
    put(&mut tree, "issued_at", document.issued_at.seconds());
    if let Some(it) = &desired.inverters {
        put(&mut tree, "inverters", inverters(it));
    }
    if let Some(it) = &desired.battery {
        put(&mut tree, "battery", battery(it));
    }
    if let Some(it) = &desired.grid_target {
        put(&mut tree, "grid_target", grid_target(it));
    }
    list(&mut tree, "ev_sockets", &desired.ev_sockets, socket);
    if let Some(it) = &desired.setpoints {
        put(&mut tree, "setpoints", setpoints(it));
    }
    list(&mut tree, "fcr", &desired.fcr, fcr_block);
    list(&mut tree, "grid_limits", &desired.grid_limits, grid_limit);
    tree
}

fn inverters(inverters: &Inverters) -> Object {
    let mut tree = Object::new();
    put(&mut tree, "action_uuid", json!(inverters.action_uuid));
    put_power(&mut tree, inverters.power);
    put(&mut tree, "until", until(inverters.end.map(|(at, _)| at)));
    if let Some((_, fallback)) = inverters.end {
        let mut then = Object::new();
        match fallback {
            Fallback::To(power) => put_power(&mut then, power),
            Fallback::FullPercentage => put_power(&mut then, InverterPower::Percentage(100.0)),
            Fallback::UnlimitedWatts => put(&mut then, "power_watts", Value::Null),
        }
        put(&mut tree, "fallback", then);
    }
    let compensated = inverters.consumption_compensated;
    put(&mut tree, "consumption_compensated", compensated);
    tree
}

fn put_power(tree: &mut Object, power: InverterPower) {
    match power {
        InverterPower::Percentage(percentage) => put(tree, "power_percentage", number(percentage)),
        InverterPower::Watts(watts) => put(tree, "power_watts", watts),
    }
}

fn battery(battery: &Battery) -> Object {
    let mut tree = Object::new();
    put(&mut tree, "action_uuid", json!(battery.action_uuid));
    match battery.power {
        BatteryPower::Charge(watts) => put(&mut tree, "charge_watts", watts),
        BatteryPower::Discharge(watts) => put(&mut tree, "discharge_watts", watts),
    }
    put(&mut tree, "until", battery.until.seconds());
    tree
}

fn grid_target(target: &GridTarget) -> Object {
    let watts = |power| match power {
        GridTargetPower::Delivery(watts) | GridTargetPower::ReturnDelivery(watts) => watts,
    };
    let [wished, effective] = match target.power {
        GridTargetPower::Delivery(_) => ["delivery_watts", "effective_delivery_watts"],
        GridTargetPower::ReturnDelivery(_) => {
            ["return_delivery_watts", "effective_return_delivery_watts"]
        }
    };
    let mut tree = Object::new();
    put(&mut tree, "action_uuid", json!(target.action_uuid));
    put(&mut tree, wished, watts(target.power));
    put(&mut tree, effective, watts(target.effective));
    put(&mut tree, "until", target.until.seconds());
    tree
}

fn socket(socket: &Socket) -> Value {
    json!({
        "action_uuid": socket.action_uuid,
        "sensor_uuid": socket.sensor_uuid,
        "charge_watts": socket.charge_watts,
        "until": socket.until.seconds(),
    })
}

fn setpoints(setpoints: &Setpoints) -> Object {
    let mut tree = Object::new();
    put(&mut tree, "action_uuid", json!(setpoints.action_uuid));
    // Also where only a kill switch is in force.
    let values: Vec<Value> = setpoints.values.iter().map(setpoint_value).collect();
    put(&mut tree, "values", values);
    let end = setpoints.end.as_ref();
    put(&mut tree, "until", until(end.map(|(at, _)| *at)));
    if let Some((_, fallback)) = end {
        let values: Vec<Value> = fallback.iter().map(setpoint_value).collect();
        put(&mut tree, "fallback", values);
    }
    tree
}

fn setpoint_value(setpoint: &SetpointValue) -> Value {
    json!({"sensor_uuid": setpoint.sensor_uuid, "value": number(setpoint.value)})
}

fn fcr_block(block: &FcrBlock) -> Value {
    json!({
        "action_uuid": block.action_uuid,
        "power_watts": block.power_watts,
        "start": block.start.seconds(),
        "stop": block.stop.seconds(),
    })
}

fn grid_limit(limit: &GridLimit) -> Value {
    json!({
        "grid_limit_uuid": limit.grid_limit_uuid,
        "start": limit.start.seconds(),
        "end": limit.end.seconds(),
        "delivery_limit_watts": limit.delivery_limit_watts,
        "return_delivery_limit_watts": limit.return_delivery_limit_watts,
    })
}

fn put(tree: &mut Object, key: &str, value: impl Into<Value>) {
    tree.insert(key.to_owned(), value.into());
}

/// An empty list is left out.
fn list<T>(tree: &mut Object, key: &str, items: &[T], write: fn(&T) -> Value) {
    if !items.is_empty() {
        put(tree, key, items.iter().map(write).collect::<Vec<Value>>());
    }
}

/// Null where there is no end.
fn until(end: Option<Timestamp>) -> Value {
    json!(end.map(Timestamp::seconds))
}

/// A number as short as it can be; it came from JSON, so it is finite.
#[expect(
    clippy::cast_possible_truncation,
    reason = "a whole number below the bound is an integer of 64 bits"
)]
fn number(value: f64) -> Value {
    if value.fract() == 0.0 && value.abs() < EXACT_INTEGERS {
        json!(value as i64)
    } else {
        json!(value)
    }
}
