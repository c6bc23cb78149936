use super::*;
use crate::schema::DESIRED;
use domain::control::{
    Battery, BatteryPower, Fallback, FcrBlock, GridTarget, GridTargetPower, InverterPower,
    Inverters, SetpointValue, Setpoints, Socket,
};
use domain::grid_limit::GridLimit;
use jsonschema::Validator;
use proptest::prelude::*;
use serde_json::json;
use std::sync::LazyLock;
use uuid::Uuid;

const EXAMPLE: &str = include_str!("../../../../schemas/examples/sent/desired.json");

static SCHEMA: LazyLock<Validator> = LazyLock::new(|| {
    let schema = serde_json::from_str(DESIRED).unwrap();
    jsonschema::draft202012::new(&schema).unwrap()
});

fn uuid() -> impl Strategy<Value = Uuid> {
    any::<u128>().prop_map(Uuid::from_u128)
}

fn time() -> impl Strategy<Value = Timestamp> {
    (-4_000_000_000_i64..400_000_000_000).prop_map(Timestamp::from_seconds)
}

fn watts() -> impl Strategy<Value = i32> {
    prop_oneof![Just(0), Just(i32::MAX), 0..=i32::MAX]
}

fn inverter_power() -> impl Strategy<Value = InverterPower> {
    prop_oneof![
        (0_u8..100).prop_map(|whole| InverterPower::Percentage(f64::from(whole))),
        (0.0..100.0).prop_map(InverterPower::Percentage),
        watts().prop_map(InverterPower::Watts),
    ]
}

prop_compose! {
    fn inverters()(
        action_uuid in uuid(),
        power in prop_oneof![inverter_power(), Just(InverterPower::Percentage(100.0))],
        end in prop::option::of((time(), prop_oneof![
            inverter_power().prop_map(Fallback::To),
            Just(Fallback::FullPercentage),
            Just(Fallback::UnlimitedWatts),
        ])),
        consumption_compensated: bool,
    ) -> Inverters {
        Inverters { action_uuid, power, end, consumption_compensated }
    }
}

prop_compose! {
    fn battery()(action_uuid in uuid(), watts in watts(), charges: bool, until in time()) -> Battery {
        let power = if charges { BatteryPower::Charge(watts) } else { BatteryPower::Discharge(watts) };
        Battery { action_uuid, power, until }
    }
}

prop_compose! {
    fn grid_target()(
        action_uuid in uuid(), wished in watts(), effective in watts(), imports: bool, until in time(),
    ) -> GridTarget {
        let of = |watts| match imports {
            true => GridTargetPower::Delivery(watts),
            false => GridTargetPower::ReturnDelivery(watts),
        };
        GridTarget { action_uuid, power: of(wished), effective: of(effective), until }
    }
}

prop_compose! {
    fn socket()(
        action_uuid in uuid(), sensor_uuid in uuid(), charge_watts in watts(), until in time(),
    ) -> Socket {
        Socket { action_uuid, sensor_uuid, charge_watts, until }
    }
}

prop_compose! {
    fn setpoint_value()(sensor_uuid in uuid(), value in prop_oneof![
        prop::num::f64::NORMAL | prop::num::f64::SUBNORMAL | prop::num::f64::ZERO,
        (-1_000_i32..1_000).prop_map(f64::from),
    ]) -> SetpointValue {
        SetpointValue { sensor_uuid, value }
    }
}

prop_compose! {
    fn setpoints()(
        action_uuid in uuid(),
        values in prop::collection::vec(setpoint_value(), 0..3),
        end in prop::option::of((time(), prop::collection::vec(setpoint_value(), 0..3))),
    ) -> Setpoints {
        Setpoints { action_uuid, values, end }
    }
}

prop_compose! {
    fn fcr_block()(
        action_uuid in uuid(), power_watts in watts(), start in time(), stop in time(),
    ) -> FcrBlock {
        FcrBlock { action_uuid, power_watts, start, stop }
    }
}

prop_compose! {
    fn grid_limit()(
        grid_limit_uuid in uuid(),
        start in time(),
        end in time(),
        delivery_limit_watts in watts(),
        return_delivery_limit_watts in watts(),
    ) -> GridLimit {
        GridLimit { grid_limit_uuid, start, end, delivery_limit_watts, return_delivery_limit_watts }
    }
}

prop_compose! {
    fn document()(
        revision in 1..=i64::MAX,
        issued_at in time(),
        inverters in prop::option::of(inverters()),
        battery in prop::option::of(battery()),
        grid_target in prop::option::of(grid_target()),
        ev_sockets in prop::collection::vec(socket(), 0..3),
        setpoints in prop::option::of(setpoints()),
        fcr in prop::collection::vec(fcr_block(), 0..3),
        grid_limits in prop::collection::vec(grid_limit(), 0..3),
    ) -> Document {
        let desired = Desired {
            inverters, battery, grid_target, ev_sockets, setpoints, fcr, grid_limits,
        };
        Document { revision, issued_at, desired }
    }
}

proptest! {
    #[test]
    fn what_is_written_is_valid_and_reads_as_what_it_was(document in document()) {
        let payload = encode(&document);
        let tree: Value = serde_json::from_slice(&payload).unwrap();
        let refused = SCHEMA.validate(&tree).err().map(|error| error.to_string());
        prop_assert_eq!(refused, None);
        prop_assert_eq!(decode(&payload), Ok(document));
    }

    #[test]
    fn whatever_comes_is_read_or_refused_with_its_place(
        document in document(), place: prop::sample::Index, other in prop_oneof![
            Just(json!(null)), Just(json!(-1)), Just(json!(1.5)), Just(json!("x")), Just(json!([1])),
        ],
    ) {
        let mut tree: Value = serde_json::from_slice(&encode(&document)).unwrap();
        let pointers = pointers(&tree, "");
        let pointer = place.get(&pointers);
        *tree.pointer_mut(pointer).unwrap() = other;
        match decode(tree.to_string().as_bytes()) {
            Ok(_) => prop_assert!(SCHEMA.is_valid(&tree), "{tree}"),
            // An end asks for the fallback beside it, so the place is told to its family.
            Err(refused) => prop_assert!(
                pointer.is_empty() || family(&refused.pointer) == family(pointer),
                "{refused} for {pointer}"
            ),
        }
    }
}

fn family(pointer: &str) -> Option<&str> {
    pointer.split('/').nth(1)
}

/// Every place of a tree.
fn pointers(tree: &Value, at: &str) -> Vec<String> {
    let mut found = vec![at.to_owned()];
    if let Value::Object(members) = tree {
        for (key, value) in members {
            found.extend(pointers(value, &format!("{at}/{key}")));
        }
    }
    if let Value::Array(items) = tree {
        for (index, value) in items.iter().enumerate() {
            found.extend(pointers(value, &format!("{at}/{index}")));
        }
    }
    found
}

#[test]
fn the_example_of_the_specification_is_read_and_written_as_it_stands() {
    let document = decode(EXAMPLE.as_bytes()).unwrap();
    let tree: Value = serde_json::from_str(EXAMPLE).unwrap();
    // As text, so that the order of the keys counts too.
    let written = String::from_utf8(encode(&document)).unwrap();
    assert_eq!(written, tree.to_string());
}

#[test]
fn nothing_in_force_is_a_document_of_two_numbers() {
    let document = Document {
        revision: 1,
        issued_at: Timestamp::from_micros(1_700_000_000_999_999),
        desired: Desired::default(),
    };
    let payload = encode(&document);
    assert_eq!(payload, br#"{"revision":1,"issued_at":1700000000}"#);
}

#[test]
fn what_is_none_is_told_with_its_place() {
    let example: Value = serde_json::from_str(EXAMPLE).unwrap();
    let check = |change: fn(&mut Value), told: &str| {
        let mut tree = example.clone();
        change(&mut tree);
        let refused = decode(tree.to_string().as_bytes()).unwrap_err();
        assert_eq!(refused.to_string(), told);
    };
    check(
        |it| it["revision"] = json!(0),
        r#""/revision": expected an integer of 1 or more"#,
    );
    check(
        |it| it["battery"]["discharge_watts"] = json!(5),
        r#""/battery": expected exactly one of charge_watts and discharge_watts"#,
    );
    check(
        |it| it["inverters"]["fallback"] = json!({}),
        r#""/inverters/fallback": expected exactly one of power_percentage and power_watts"#,
    );
    check(
        |it| it["ev_sockets"][0]["until"] = json!(null),
        &format!(
            r#""/ev_sockets/0/until": expected an integer of {} or more"#,
            i64::MIN
        ),
    );
    check(
        |it| it["fcr"][0]["power_watts"] = json!(3_000_000_000_i64),
        r#""/fcr/0/power_watts": expected an integer up to 2147483647"#,
    );
    assert_eq!(decode(b"").unwrap_err().pointer, "");
}
