//! Random steps of a building's history.

use domain::control::action::SocketWish;
use domain::control::{
    Action, BatteryPower, GridTargetPower, InverterPower, InverterTimeout, Outcome, SetpointValue,
};
use domain::grid_limit::GridLimit;
use domain::time::Timestamp;
use proptest::prelude::*;
use std::time::Duration;
use uuid::Uuid;

pub(crate) const BEGIN: i64 = 1_700_000_000;

/// One step; moments and choices are small, so that things meet.
#[derive(Clone, Debug)]
pub(crate) enum Step {
    Act(Action),
    /// On the newest revision less this, with outcomes for the actions so many places from the newest.
    Report(i64, Vec<(usize, Outcome)>),
    Limits(Vec<GridLimit>),
    Flag(bool),
    Restart,
    Nothing,
}

fn sensor(number: u128) -> Uuid {
    Uuid::from_u128(1_000 + number)
}

fn values() -> impl Strategy<Value = Vec<SetpointValue>> {
    let value = (0..3_u128, -20..40_i32).prop_map(|(number, value)| SetpointValue {
        sensor_uuid: sensor(number),
        value: f64::from(value) / 2.0,
    });
    prop::collection::vec(value, 0..3)
}

fn power() -> impl Strategy<Value = (InverterPower, InverterPower)> {
    prop_oneof![
        (0..=100_i32, 0..=100_i32).prop_map(|(one, other)| (
            InverterPower::Percentage(f64::from(one)),
            InverterPower::Percentage(f64::from(other))
        )),
        (0..9_000_i32, 0..9_000_i32)
            .prop_map(|(one, other)| (InverterPower::Watts(one), InverterPower::Watts(other))),
    ]
}

fn inverters() -> impl Strategy<Value = Action> {
    let timeout = prop_oneof![
        Just(InverterTimeout::Sticky),
        Just(InverterTimeout::Cleared),
        (60..200_i32).prop_map(InverterTimeout::Seconds),
    ];
    (power(), timeout, any::<bool>()).prop_map(|((power, fallback), timeout, given)| {
        let own = matches!(timeout, InverterTimeout::Seconds(_));
        Action::Inverters {
            power,
            timeout,
            fallback: (given && own).then_some(fallback),
        }
    })
}

fn sockets() -> impl Strategy<Value = Action> {
    let wish = (0..4_u128, 0..9_000_i32, 60..200_i32);
    prop::collection::btree_map(0..4_u128, wish, 1..4).prop_map(|wishes| {
        let wish = |(number, (_, charge_watts, timeout_s))| SocketWish {
            sensor_uuid: sensor(number),
            charge_watts,
            timeout_s,
        };
        Action::EvSockets(wishes.into_iter().map(wish).collect())
    })
}

fn setpoints() -> impl Strategy<Value = Action> {
    let minutes = prop::option::of(0..4_i32);
    let parts = (
        minutes,
        prop::option::of(values()),
        prop::option::of(values()),
    );
    parts.prop_map(
        |(fallback_timeout_minutes, values, fallback)| Action::Setpoints {
            fallback_timeout_minutes,
            values,
            fallback,
        },
    )
}

fn blocks() -> impl Strategy<Value = Action> {
    let start = (1..4_i64).prop_map(|number| Timestamp::from_seconds(BEGIN + number * 400));
    prop_oneof![
        (start.clone(), 0..9_000_i32).prop_map(|(start, power_watts)| Action::FcrPlan {
            start,
            stop: start.plus(Duration::from_secs(400)),
            power_watts,
        }),
        start.prop_map(|start| Action::FcrCancel { start }),
    ]
}

fn action() -> impl Strategy<Value = Action> {
    prop_oneof![
        3 => inverters(),
        2 => (any::<bool>(), 0..9_000_i32, 60..200_i32).prop_map(|(charge, watts, timeout_s)| {
            let power = if charge { BatteryPower::Charge } else { BatteryPower::Discharge };
            Action::Battery { power: power(watts), timeout_s }
        }),
        2 => (any::<bool>(), 0..9_000_i32, 1..200_i32).prop_map(|(delivery, watts, duration_s)| {
            let power = if delivery { GridTargetPower::Delivery } else { GridTargetPower::ReturnDelivery };
            Action::GridTarget { power: power(watts), duration_s }
        }),
        1 => Just(Action::GridTargetCancel),
        2 => sockets(),
        3 => setpoints(),
        2 => blocks(),
    ]
}

pub(crate) fn step() -> impl Strategy<Value = Step> {
    let outcome = prop::sample::select(Outcome::ALL.to_vec());
    let outcomes = prop::collection::vec((0..4_usize, outcome), 0..3);
    let limit = (0..10_i64, 1..5_i64, 0..9_000_i32, 0..9_000_i32);
    prop_oneof![
        6 => action().prop_map(Step::Act),
        3 => (0..4_i64, outcomes).prop_map(|(back, outcomes)| Step::Report(back, outcomes)),
        1 => prop::collection::vec(limit, 0..4).prop_map(|limits| Step::Limits(occurrences(limits))),
        1 => any::<bool>().prop_map(Step::Flag),
        1 => Just(Step::Restart),
        1 => Just(Step::Nothing),
    ]
}

/// Waits of up to some minutes, often of less than a second.
pub(crate) fn wait_us() -> impl Strategy<Value = u64> {
    prop_oneof![1..999_999_u64, 1_000_000..250_000_000_u64]
}

/// Starts and lengths in minutes, and both limits in watt.
fn occurrences(limits: Vec<(i64, i64, i32, i32)>) -> Vec<GridLimit> {
    let limit = |(start, length, delivery, return_delivery)| GridLimit {
        grid_limit_uuid: Uuid::new_v4(),
        start: Timestamp::from_seconds(BEGIN + start * 60),
        end: Timestamp::from_seconds(BEGIN + (start + length) * 60),
        delivery_limit_watts: delivery,
        return_delivery_limit_watts: return_delivery,
    };
    limits.into_iter().map(limit).collect()
}
