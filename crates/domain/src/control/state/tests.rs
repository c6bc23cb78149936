//! Single steps; whole histories are compared with a model in `tests/`.

use super::*;
use crate::control::action::SocketWish;
use crate::control::desired::GridTargetPower;
use std::time::Duration;

const NOW: Timestamp = Timestamp::from_micros(1_700_000_000_300_000);

fn uuid(number: u128) -> Uuid {
    Uuid::from_u128(number)
}

fn curtail(percentage: f64, timeout: InverterTimeout, fallback: Option<f64>) -> Action {
    Action::Inverters {
        power: InverterPower::Percentage(percentage),
        timeout,
        fallback: fallback.map(InverterPower::Percentage),
    }
}

#[test]
fn what_ends_does_so_at_a_whole_second_counted_from_that_in_which_it_began() {
    let check = |micros: i64, seconds, end: i64| {
        let end = Timestamp::from_seconds(end);
        assert_eq!(
            end_after(Timestamp::from_micros(micros), seconds),
            end,
            "{micros}"
        );
    };
    check(100_000_000, 60, 160);
    check(100_000_001, 60, 160);
    check(100_999_999, 60, 160);
    check(100_000_000, i32::MAX, 100 + i64::from(i32::MAX));
}

#[test]
fn a_fallback_of_100_percent_is_the_default_one() {
    let mut state = State::default();
    let surroundings = Surroundings::default();
    let action = curtail(5.0, InverterTimeout::Seconds(60), Some(100.0));
    state.apply(uuid(1), &action, &surroundings, NOW);
    let end = state.desired().inverters.unwrap().end.unwrap();
    assert_eq!(
        end,
        (
            Timestamp::from_seconds(1_700_000_060),
            Fallback::FullPercentage
        )
    );
    assert!(state.advance(&surroundings, end.0).new_revision);
    assert_eq!(state.desired().inverters, None);
}

#[test]
fn a_step_that_changes_nothing_makes_no_revision() {
    let mut state = State::default();
    let mut surroundings = Surroundings::default();
    assert!(!state.advance(&surroundings, NOW).new_revision);
    surroundings.consumption_compensated = true;
    assert!(
        !state.advance(&surroundings, NOW).new_revision,
        "no inverters, no flag"
    );
    let idle = state.apply(uuid(1), &Action::GridTargetCancel, &surroundings, NOW);
    assert!(idle.done && !idle.new_revision);
    let start = NOW.plus(Duration::from_secs(3_600));
    let idle = state.apply(uuid(2), &Action::FcrCancel { start }, &surroundings, NOW);
    assert!(idle.done && !idle.new_revision);
    let curtailed = state.apply(
        uuid(3),
        &curtail(1.0, InverterTimeout::Sticky, None),
        &surroundings,
        NOW,
    );
    assert!(curtailed.new_revision && !curtailed.done);
    surroundings.consumption_compensated = false;
    assert!(state.advance(&surroundings, NOW).new_revision);
}

#[test]
fn every_entry_of_the_document_is_counted() {
    let mut state = State::default();
    let value = |number| SetpointValue {
        sensor_uuid: uuid(number),
        value: 1.0,
    };
    let setpoints = Action::Setpoints {
        fallback_timeout_minutes: Some(1),
        values: Some(vec![value(1), value(2)]),
        fallback: Some(vec![value(1)]),
    };
    let wish = |number| SocketWish {
        sensor_uuid: uuid(number),
        charge_watts: 0,
        timeout_s: 60,
    };
    let start = NOW.plus(Duration::from_secs(3_600));
    let surroundings = Surroundings {
        grid_limits: vec![GridLimit {
            grid_limit_uuid: uuid(9),
            start,
            end: start.plus(Duration::from_secs(900)),
            delivery_limit_watts: 0,
            return_delivery_limit_watts: 0,
        }],
        ..Surroundings::default()
    };
    state.apply(uuid(1), &setpoints, &surroundings, NOW);
    state.apply(
        uuid(2),
        &Action::EvSockets(vec![wish(1), wish(2)]),
        &surroundings,
        NOW,
    );
    let block = Action::FcrPlan {
        start,
        stop: start.plus(Duration::from_secs(4 * 3_600)),
        power_watts: 1,
    };
    state.apply(uuid(3), &block, &surroundings, NOW);
    assert_eq!(state.entries(), 3 + 2 + 1 + 1);
}

#[test]
fn a_state_that_was_kept_by_an_older_version_is_read() {
    let state: State = serde_json::from_str("{}").unwrap();
    assert_eq!(state, State::default());
}

#[test]
fn a_limit_counts_from_its_begin_until_before_its_end() {
    let limit = GridLimit {
        grid_limit_uuid: uuid(1),
        start: Timestamp::from_seconds(900),
        end: Timestamp::from_seconds(1_800),
        delivery_limit_watts: 3,
        return_delivery_limit_watts: 0,
    };
    let check = |at: i64, power: GridTargetPower, effective| {
        let at = Timestamp::from_micros(at);
        assert_eq!(power.within(&[limit], at), effective, "{at:?}");
    };
    use GridTargetPower::{Delivery, ReturnDelivery};
    check(899_999_999, Delivery(5), Delivery(5));
    check(900_000_000, Delivery(5), Delivery(3));
    check(900_000_000, Delivery(2), Delivery(2));
    check(1_799_999_999, ReturnDelivery(5), ReturnDelivery(0));
    check(1_800_000_000, ReturnDelivery(5), ReturnDelivery(5));
}
