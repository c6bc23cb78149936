//! In memory: thousands of histories, looked at in time or not.

use super::history::{Event, What};
use super::machine::Machine;
use super::model::Model;
use super::random::{BEGIN, Step, step, wait_us};
use domain::control::{Action, Outcome};
use domain::time::Timestamp;
use proptest::prelude::*;
use std::time::Duration;
use uuid::Uuid;

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
