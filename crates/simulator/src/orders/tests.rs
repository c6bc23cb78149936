use super::*;
use domain::control::state::Surroundings;
use domain::control::{Battery, FcrBlock, GridTarget, Inverters, Setpoints, Socket, State};
use proptest::prelude::*;
use serde_json::json;

const ISSUED: i64 = 1_700_000_000;
const UNTIL: Timestamp = Timestamp::from_seconds(ISSUED + 60);
const BEFORE: Timestamp = Timestamp::from_micros(UNTIL.micros() - 1);
const AN_HOUR_LATER: Timestamp = Timestamp::from_seconds(ISSUED + 3_660);
const SENSOR: Uuid = Uuid::from_u128(7);
const ACTION: Uuid = Uuid::from_u128(1);

fn document(desired: Desired) -> Document {
    Document {
        revision: 1,
        issued_at: Timestamp::from_seconds(ISSUED),
        desired,
    }
}

/// What `of` shows of a document just before its end, at the second itself and an hour later.
fn shown<T>(desired: Desired, of: fn(&Orders<'_>) -> T) -> [T; 3] {
    let document = document(desired);
    [BEFORE, UNTIL, AN_HOUR_LATER].map(|time| of(&Orders::of(&document, time)))
}

fn inverters(power: InverterPower, end: Option<(Timestamp, Fallback)>) -> Desired {
    let inverters = Some(Inverters {
        action_uuid: ACTION,
        power,
        end,
        consumption_compensated: true,
    });
    Desired {
        inverters,
        ..Desired::default()
    }
}

#[test]
fn inverters_fall_back_at_the_second_and_hold_what_they_fall_back_to() {
    use InverterPower::{Percentage, Watts};
    let check = |power, end, expected| {
        let power = shown(inverters(power, end), |it| it.inverters.map(|it| it.power));
        assert_eq!(power, expected);
    };
    let half = Percentage(50.0);
    let end = |fallback| Some((UNTIL, fallback));
    check(half, None, [Some(half); 3]);
    check(
        half,
        end(Fallback::FullPercentage),
        [Some(half), None, None],
    );
    let low = Percentage(20.0);
    let to_low = end(Fallback::To(low));
    check(half, to_low, [Some(half), Some(low), Some(low)]);
    let watts = Watts(3_000);
    check(
        watts,
        end(Fallback::UnlimitedWatts),
        [Some(watts), None, None],
    );
    let to_none = end(Fallback::To(Watts(0)));
    check(
        watts,
        to_none,
        [Some(watts), Some(Watts(0)), Some(Watts(0))],
    );
}

#[test]
fn battery_grid_target_and_sockets_end_at_the_second() {
    let battery = |power| Desired {
        battery: Some(Battery {
            action_uuid: ACTION,
            power,
            until: UNTIL,
        }),
        ..Desired::default()
    };
    let charge = shown(battery(BatteryPower::Charge(1_000)), |it| it.battery_w);
    assert_eq!(charge, [Some(1_000), None, None]);
    let discharge = shown(battery(BatteryPower::Discharge(900)), |it| it.battery_w);
    assert_eq!(discharge, [Some(-900), None, None]);
    let target = |power, effective| Desired {
        grid_target: Some(GridTarget {
            action_uuid: ACTION,
            power,
            effective,
            until: UNTIL,
        }),
        ..Desired::default()
    };
    use GridTargetPower::{Delivery, ReturnDelivery};
    let import = shown(target(Delivery(5_000), Delivery(4_000)), |it| it.meter_w);
    assert_eq!(import, [Some(4_000), None, None]);
    let export = target(ReturnDelivery(800), ReturnDelivery(800));
    assert_eq!(shown(export, |it| it.meter_w), [Some(-800), None, None]);
    let sockets = Desired {
        ev_sockets: vec![Socket {
            action_uuid: ACTION,
            sensor_uuid: SENSOR,
            charge_watts: 3_700,
            until: UNTIL,
        }],
        ..Desired::default()
    };
    assert_eq!(
        shown(sockets, |it| it.socket_w(SENSOR)),
        [Some(3_700), None, None]
    );
}

#[test]
fn setpoints_fall_back_at_the_second_and_hold_that() {
    let value = |value| SetpointValue {
        sensor_uuid: SENSOR,
        value,
    };
    let setpoints = |end| Desired {
        setpoints: Some(Setpoints {
            action_uuid: ACTION,
            values: vec![value(20.5)],
            end,
        }),
        ..Desired::default()
    };
    let of = |orders: &Orders<'_>| orders.setpoint(SENSOR);
    assert_eq!(shown(setpoints(None), of), [Some(20.5); 3]);
    let falls_back = setpoints(Some((UNTIL, vec![value(18.0)])));
    assert_eq!(shown(falls_back, of), [Some(20.5), Some(18.0), Some(18.0)]);
    let to_nothing = setpoints(Some((UNTIL, Vec::new())));
    assert_eq!(shown(to_nothing, of), [Some(20.5), None, None]);
}

#[test]
fn blocks_and_limits_run_from_their_start_to_their_end_and_bound_the_grid_target() {
    let at = |seconds: i64| Timestamp::from_seconds(ISSUED + seconds);
    let limit = |start, end, delivery_limit_watts, return_delivery_limit_watts| GridLimit {
        grid_limit_uuid: SENSOR,
        start: at(start),
        end: at(end),
        delivery_limit_watts,
        return_delivery_limit_watts,
    };
    let document = document(Desired {
        fcr: vec![FcrBlock {
            action_uuid: ACTION,
            power_watts: 100,
            start: at(10),
            stop: at(20),
        }],
        grid_limits: vec![limit(0, 20, 3_000, 0), limit(10, 30, 2_000, 500)],
        grid_target: Some(GridTarget {
            action_uuid: ACTION,
            power: GridTargetPower::Delivery(9_000),
            effective: GridTargetPower::Delivery(3_000),
            until: at(40),
        }),
        ..Desired::default()
    });
    let check = |second, fcr_w, limits: Option<(i32, i32)>, meter_w| {
        let orders = Orders::of(&document, at(second));
        let found = orders
            .limits
            .map(|it| (it.delivery_w, it.return_delivery_w));
        assert_eq!(
            (orders.fcr_w, found, orders.meter_w),
            (fcr_w, limits, meter_w)
        );
    };
    check(9, None, Some((3_000, 0)), Some(3_000));
    check(10, Some(100), Some((2_000, 0)), Some(2_000));
    check(19, Some(100), Some((2_000, 0)), Some(2_000));
    check(20, None, Some((2_000, 500)), Some(2_000));
    check(30, None, None, Some(9_000));
    check(40, None, None, None);
}

fn time() -> impl Strategy<Value = Timestamp> {
    (ISSUED - 50..ISSUED + 150).prop_map(Timestamp::from_seconds)
}

prop_compose! {
    /// A document as the service would have it at the moment of its making, with some of each family.
    fn made()(
        power in prop_oneof![Just(InverterPower::Percentage(30.0)), Just(InverterPower::Watts(500))],
        fallback in prop_oneof![
            Just(Fallback::To(InverterPower::Percentage(10.0))), Just(Fallback::UnlimitedWatts),
        ],
        ends in prop::array::uniform5(time()),
        starts in prop::array::uniform3(time()),
        watts in prop::array::uniform4(0_i32..5_000),
    ) -> Document {
        let value = |value| vec![SetpointValue { sensor_uuid: SENSOR, value }];
        let limits = [(starts[0], ends[0]), (starts[1], ends[1])];
        let limits = limits.map(|(start, end)| GridLimit {
            grid_limit_uuid: SENSOR, start, end, delivery_limit_watts: watts[0], return_delivery_limit_watts: watts[1],
        });
        let target = GridTargetPower::Delivery(watts[2]);
        let grid_target = GridTarget { action_uuid: ACTION, power: target, effective: target, until: ends[2] };
        let socket = Socket {
            action_uuid: ACTION, sensor_uuid: SENSOR, charge_watts: watts[3], until: ends[4],
        };
        let block = FcrBlock { action_uuid: ACTION, power_watts: watts[3], start: starts[2], stop: ends[2] };
        let desired = Desired {
            battery: Some(Battery {
                action_uuid: ACTION, power: BatteryPower::Discharge(watts[0]), until: ends[3],
            }),
            grid_target: Some(grid_target),
            ev_sockets: vec![socket],
            setpoints: Some(Setpoints {
                action_uuid: ACTION, values: value(1.0), end: Some((ends[1], value(2.0))),
            }),
            fcr: vec![block],
            grid_limits: limits.to_vec(),
            ..inverters(power, Some((ends[3], fallback)))
        };
        document(desired_at(&desired, Timestamp::from_seconds(ISSUED)))
    }
}

/// What the service makes of a desired state when time goes on.
fn desired_at(desired: &Desired, now: Timestamp) -> Desired {
    let mut state: State = serde_json::from_value(json!({"desired": desired})).unwrap();
    let surroundings = Surroundings {
        consumption_compensated: true,
        grid_limits: desired.grid_limits.clone(),
    };
    state.advance(&surroundings, now);
    state.desired().clone()
}

proptest! {
    #[test]
    fn a_controller_that_is_cut_off_does_what_the_service_would_say(made in made(), time in time()) {
        prop_assume!(time >= made.issued_at);
        let told = document(desired_at(&made.desired, time));
        let told = Document { issued_at: time, ..told };
        prop_assert_eq!(Orders::of(&made, time), Orders::of(&told, time));
    }
}
