//! What is desired of a building: taking an action into its state, and writing the document.

#![expect(clippy::unwrap_used, reason = "a bench stops where it cannot tell")]

use benches::side_by_side::{Report, row, settings};
use criterion::{Criterion, criterion_group, criterion_main};
use domain::control::action::{Action, InverterTimeout, SocketWish};
use domain::control::desired::{BatteryPower, GridTargetPower, InverterPower, SetpointValue};
use domain::control::state::{State, Surroundings};
use domain::grid_limit::GridLimit;
use domain::time::Timestamp;
use std::hint::black_box;
use std::time::Duration;
use uuid::Uuid;
use wire::desired::{Document, encode};

const NOW: Timestamp = Timestamp::from_seconds(1_800_000_000);

fn hours_from_now(hours: u64) -> Timestamp {
    NOW.plus(Duration::from_secs(hours * 3_600))
}

fn uuid(number: u128) -> Uuid {
    Uuid::from_u128((0xaaaa << 112) | (4 << 76) | (8 << 60) | number)
}

fn inverters(percentage: f64) -> Action {
    Action::Inverters {
        power: InverterPower::Percentage(percentage),
        timeout: InverterTimeout::Seconds(600),
        fallback: Some(InverterPower::Percentage(80.0)),
    }
}

/// One of every family, with some sockets, setpoints and blocks.
fn actions() -> Vec<Action> {
    let setpoints = |value| {
        let one = |number: u128| SetpointValue {
            sensor_uuid: uuid(200 + number),
            value,
        };
        (0..4).map(one).collect::<Vec<_>>()
    };
    let socket = |number: u128| SocketWish {
        sensor_uuid: uuid(100 + number),
        charge_watts: 3_700,
        timeout_s: 600,
    };
    let block = |number: u64| Action::FcrPlan {
        start: hours_from_now(4 * number),
        stop: hours_from_now(4 * number + 4),
        power_watts: 100_000,
    };
    let mut actions = vec![
        inverters(50.0),
        Action::Battery {
            power: BatteryPower::Charge(3_000),
            timeout_s: 600,
        },
        Action::GridTarget {
            power: GridTargetPower::Delivery(5_000),
            duration_s: 600,
        },
        Action::EvSockets((0..4).map(socket).collect()),
        Action::Setpoints {
            fallback_timeout_minutes: Some(10),
            values: Some(setpoints(20.5)),
            fallback: Some(setpoints(18.0)),
        },
    ];
    actions.extend((1..=3).map(block));
    actions
}

/// A limit every six hours of a day.
fn surroundings() -> Surroundings {
    let limit = |number: u64| GridLimit {
        grid_limit_uuid: uuid(300 + u128::from(number)),
        start: hours_from_now(6 * number),
        end: hours_from_now(6 * number + 1),
        delivery_limit_watts: 4_000,
        return_delivery_limit_watts: 0,
    };
    Surroundings {
        consumption_compensated: true,
        grid_limits: (0..4).map(limit).collect(),
    }
}

fn state() -> State {
    let mut state = State::default();
    for (number, action) in (1..).zip(actions()) {
        state.apply(uuid(number), &action, &surroundings(), NOW);
    }
    state
}

/// Passes over the one building, for a time that can be measured.
const ITEMS: u32 = 1_000;

fn desired(criterion: &mut Criterion) {
    let mut report = Report::new("desired");
    let (mut applied, surroundings, action) = (state(), surroundings(), inverters(30.0));
    let apply = row("State::apply and next_due", move || {
        for number in 0..ITEMS {
            let action_uuid = uuid(1_000 + u128::from(number));
            let changed = applied.apply(action_uuid, black_box(&action), &surroundings, NOW);
            black_box((changed, applied.next_due(NOW)));
        }
    });
    let items = usize::try_from(ITEMS).unwrap();
    report.measure(
        criterion,
        "an action into a building's state",
        items,
        1,
        vec![apply],
    );
    let document = Document {
        revision: 42,
        issued_at: NOW,
        desired: state().desired().clone(),
    };
    let encode = row("desired::encode", || {
        for _ in 0..ITEMS {
            black_box(encode(black_box(&document)));
        }
    });
    report.measure(
        criterion,
        "a desired document as bytes",
        items,
        1,
        vec![encode],
    );
    report.tell().unwrap();
}

criterion_group!(name = benches; config = settings(); targets = desired);
criterion_main!(benches);
