//! Random histories.

use crate::history::{Event, What};
use crate::machine::Machine;
use crate::model::Model;
use domain::control::action::SocketWish;
use domain::control::{
    Action, BatteryPower, GridTargetPower, InverterPower, InverterTimeout, Outcome, SetpointValue,
};
use domain::grid_limit::GridLimit;
use domain::time::Timestamp;
use proptest::prelude::*;
use std::time::Duration;
use uuid::Uuid;

const BEGIN: i64 = 1_700_000_000;

/// One step; moments and choices are small, so that things meet.
#[derive(Clone, Debug)]
enum Step {
    Act(Action),
    /// On the newest revision less this, with outcomes for the actions so many places from the newest.
    Report(i64, Vec<(usize, Outcome)>),
    Limits(Vec<(i64, i64, i32, i32)>),
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

fn step() -> impl Strategy<Value = Step> {
    let outcome = prop::sample::select(Outcome::ALL.to_vec());
    let outcomes = prop::collection::vec((0..4_usize, outcome), 0..3);
    let limit = (0..10_i64, 1..5_i64, 0..9_000_i32, 0..9_000_i32);
    prop_oneof![
        6 => action().prop_map(Step::Act),
        3 => (0..4_i64, outcomes).prop_map(|(back, outcomes)| Step::Report(back, outcomes)),
        1 => prop::collection::vec(limit, 0..4).prop_map(Step::Limits),
        1 => any::<bool>().prop_map(Step::Flag),
        1 => Just(Step::Restart),
        1 => Just(Step::Nothing),
    ]
}

/// Waits of up to some minutes, often of less than a second.
fn wait_us() -> impl Strategy<Value = u64> {
    prop_oneof![1..999_999_u64, 1_000_000..250_000_000_u64]
}

fn take(machine: &mut Machine, number: usize, step: Step, now: Timestamp) {
    match step {
        Step::Act(Action::Setpoints {
            fallback_timeout_minutes,
            fallback,
            ..
        }) if machine
            .state
            .lacks_fallback(fallback_timeout_minutes, fallback.as_deref()) => {}
        Step::Act(action) => machine.act(Uuid::from_u128(number as u128), action, now),
        Step::Report(back, outcomes) => {
            let newest: Vec<Uuid> = machine.fates.keys().rev().copied().collect();
            let named = |(place, outcome): (usize, Outcome)| Some((*newest.get(place)?, outcome));
            let outcomes = outcomes.into_iter().filter_map(named).collect();
            machine.report(machine.revision - back, outcomes, now);
        }
        Step::Limits(limits) => {
            let limit =
                |(number, (start, length, delivery, back)): (usize, (i64, i64, i32, i32))| {
                    GridLimit {
                        grid_limit_uuid: Uuid::from_u128(number as u128),
                        start: Timestamp::from_seconds(BEGIN + start * 60),
                        end: Timestamp::from_seconds(BEGIN + (start + length) * 60),
                        delivery_limit_watts: delivery,
                        return_delivery_limit_watts: back,
                    }
                };
            let limits: Vec<GridLimit> = limits.into_iter().enumerate().map(limit).collect();
            machine.surroundings.grid_limits.clone_from(&limits);
            machine.history.0.push(Event {
                at: now,
                what: What::Limited(limits),
            });
        }
        Step::Flag(flag) => {
            machine.surroundings.consumption_compensated = flag;
            machine.history.0.push(Event {
                at: now,
                what: What::Flagged(flag),
            });
        }
        Step::Restart => machine.restart(),
        Step::Nothing => {}
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn what_is_desired_and_every_fate_is_a_function_of_the_history(
        steps in prop::collection::vec((wait_us(), any::<bool>(), step()), 1..25)
    ) {
        let mut machine = Machine::default();
        let mut now = Timestamp::from_seconds(BEGIN);
        for (number, (wait, looked_at, step)) in steps.into_iter().enumerate() {
            now = now.plus(Duration::from_micros(wait));
            if looked_at {
                // Executed in time or not: it must make no difference.
                machine.advance(now);
                now = now.plus(Duration::from_micros(1));
            }
            let before = (machine.revision, machine.state.desired().clone());
            take(&mut machine, number, step, now);
            machine.advance(now);
            let changed = *machine.state.desired() != before.1;
            prop_assert!(!changed || machine.revision > before.0, "a change without a revision");
            let model = Model::of(&machine.history);
            prop_assert_eq!(machine.state.desired(), &model.desired(now), "{:#?}", machine.history);
            for (action_uuid, fate) in &machine.fates {
                let expected = model.fate(*action_uuid, now);
                prop_assert_eq!(*fate, expected, "{} in {:#?}", action_uuid, machine.history);
            }
            let next_due = machine.state.next_due(now);
            prop_assert!(next_due.is_none_or(|due| due > now), "{next_due:?} is not ahead of {now:?}");
        }
    }

    #[test]
    fn nothing_changes_before_it_is_due(
        steps in prop::collection::vec((wait_us(), step()), 1..15)
    ) {
        let mut machine = Machine::default();
        let mut now = Timestamp::from_seconds(BEGIN);
        for (number, (wait, step)) in steps.into_iter().enumerate() {
            now = now.plus(Duration::from_micros(wait));
            take(&mut machine, number, step, now);
        }
        machine.advance(now);
        while let Some(due) = machine.state.next_due(now) {
            let before = machine.state.clone();
            machine.advance(Timestamp::from_micros(due.micros() - 1));
            prop_assert_eq!(&machine.state, &before, "something happened too early");
            let revision = machine.revision;
            machine.advance(due);
            // A limit that begins may be wider than the target.
            let limits = &before.desired().grid_limits;
            let begins = limits.iter().any(|limit| limit.start == due);
            prop_assert!(begins || machine.state != before, "nothing happened when it was due");
            let changed = machine.state.desired() != before.desired();
            prop_assert_eq!(changed, machine.revision > revision);
            now = due;
        }
        // At the end nothing is left but what holds until something new comes.
        let left = machine.state.desired();
        prop_assert!(left.battery.is_none() && left.grid_target.is_none());
        prop_assert!(left.ev_sockets.is_empty() && left.fcr.is_empty() && left.grid_limits.is_empty());
        prop_assert!(left.inverters.is_none_or(|it| it.end.is_none()));
        prop_assert!(left.setpoints.as_ref().is_none_or(|it| it.end.is_none()));
    }
}
