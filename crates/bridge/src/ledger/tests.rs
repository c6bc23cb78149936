use super::*;
use bytes::Bytes;
use domain::time::Timestamp;
use proptest::prelude::*;
use wire::envelope::Message;

fn letter() -> Letter {
    Letter::Record(Message {
        source: String::new(),
        building: None,
        kind: None,
        received_at: Timestamp::from_micros(0),
        traceparent: None,
        redelivered: false,
        payload: Bytes::new(),
    })
}

fn arrive(ledger: &mut Ledger, packet_identifier: u16) -> Ticket {
    let qos = QoS::AtLeastOnce;
    let acknowledgement = Acknowledgement {
        packet_identifier,
        qos,
    };
    ledger.arrive(letter(), acknowledgement)
}

fn hand_over_all(ledger: &mut Ledger) -> Vec<Ticket> {
    let mut taken = Vec::new();
    while let Some((ticket, _)) = ledger.next_waiting() {
        ledger.handed_over(ticket);
        taken.push(ticket);
    }
    taken
}

fn acknowledged(ledger: &mut Ledger) -> Vec<u16> {
    let run = ledger.take_acknowledgeable();
    run.map(|entry| entry.acknowledgement.packet_identifier)
        .collect()
}

#[test]
fn only_the_durable_prefix_is_acknowledged_in_order_of_arrival() {
    let mut ledger = Ledger::default();
    let tickets: Vec<_> = (1..=4).map(|id| arrive(&mut ledger, id)).collect();
    hand_over_all(&mut ledger);
    ledger.durable(tickets[2]);
    ledger.durable(tickets[1]);
    assert!(acknowledged(&mut ledger).is_empty());
    ledger.durable(tickets[0]);
    assert_eq!(acknowledged(&mut ledger), [1, 2, 3]);
    assert_eq!(ledger.in_flight(), 1);
}

#[test]
fn a_report_about_an_old_connection_changes_nothing() {
    let mut ledger = Ledger::default();
    let old = arrive(&mut ledger, 1);
    hand_over_all(&mut ledger);
    assert_eq!(ledger.forget(), 1);
    let new = arrive(&mut ledger, 1);
    assert_ne!(old, new);
    hand_over_all(&mut ledger);
    ledger.durable(old);
    assert!(!ledger.failed(old));
    ledger.returned(old);
    assert!(acknowledged(&mut ledger).is_empty());
    assert!(!ledger.has_waiting() && !ledger.has_failed());
}

#[test]
fn what_failed_is_handed_over_again_before_what_came_later() {
    let mut ledger = Ledger::default();
    let tickets: Vec<_> = (1..=3).map(|id| arrive(&mut ledger, id)).collect();
    for ticket in &tickets[..2] {
        ledger.handed_over(*ticket);
    }
    assert!(ledger.failed(tickets[1]));
    assert!(ledger.failed(tickets[0]));
    assert!(ledger.has_failed());
    assert_eq!(hand_over_all(&mut ledger), tickets);
    for ticket in tickets {
        ledger.durable(ticket);
    }
    assert!(!ledger.has_failed());
    assert_eq!(acknowledged(&mut ledger), [1, 2, 3]);
}

/// What may happen to a ledger; numbers choose among the tickets ever given.
#[derive(Clone, Debug)]
enum Step {
    Arrive,
    HandOver(usize),
    Durable(usize),
    Returned(usize),
    Failed(usize),
    Acknowledge,
    Forget,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        6 => Just(Step::Arrive),
        4 => (0usize..5).prop_map(Step::HandOver),
        6 => (0usize..300).prop_map(Step::Durable),
        1 => (0usize..300).prop_map(Step::Returned),
        1 => (0usize..300).prop_map(Step::Failed),
        3 => Just(Step::Acknowledge),
        1 => Just(Step::Forget),
    ]
}

proptest! {
    #[test]
    fn nothing_is_lost_doubled_or_acknowledged_before_it_is_durable(
        steps in prop::collection::vec(step(), 1..300)
    ) {
        let mut ledger = Ledger::default();
        let mut tickets: Vec<Ticket> = Vec::new();
        let mut durable = std::collections::BTreeSet::new();
        // Of the present connection: packet identifiers that await their acknowledgement.
        let mut expected: VecDeque<u16> = VecDeque::new();
        let (mut done, mut abandoned) = (0, 0);
        for step in steps {
            let chosen = |number: usize| tickets.get(number % tickets.len().max(1)).copied();
            match step {
                Step::Arrive => {
                    let id = u16::try_from(tickets.len() + 1).unwrap();
                    tickets.push(arrive(&mut ledger, id));
                    expected.push_back(id);
                }
                Step::HandOver(count) => for _ in 0..count {
                    let Some((ticket, _)) = ledger.next_waiting() else { break };
                    ledger.handed_over(ticket);
                },
                Step::Durable(number) => if let Some(ticket) = chosen(number) {
                    ledger.durable(ticket);
                    durable.insert(ticket);
                },
                Step::Returned(number) => if let Some(ticket) = chosen(number) {
                    ledger.returned(ticket);
                },
                Step::Failed(number) => if let Some(ticket) = chosen(number) {
                    ledger.failed(ticket);
                },
                Step::Acknowledge => for id in acknowledged(&mut ledger) {
                    prop_assert_eq!(Some(id), expected.pop_front());
                    prop_assert!(durable.contains(&tickets[usize::from(id) - 1]));
                    done += 1;
                },
                Step::Forget => {
                    abandoned += ledger.forget();
                    expected.clear();
                    prop_assert!(!ledger.has_waiting() && !ledger.has_failed());
                }
            }
            prop_assert_eq!(tickets.len(), done + abandoned + ledger.in_flight());
            prop_assert!(ledger.waiting.iter().is_sorted());
            let waits = ledger.entries.iter().filter(|entry| entry.stage == Stage::Waiting);
            prop_assert_eq!(waits.count(), ledger.waiting.len());
            let failed = ledger.entries.iter().filter(|entry| entry.failed);
            prop_assert_eq!(failed.count(), ledger.failed);
        }
    }
}
