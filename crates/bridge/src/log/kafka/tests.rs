use super::settings::tests::config;
use super::*;
use crate::log::Outcome;
use bytes::Bytes;
use domain::time::Timestamp;
use wire::envelope::Message;
use wire::topic::RecordKind;

fn letter() -> Letter {
    Letter::Record(Message {
        source: "v1".to_owned(),
        building: None,
        kind: Some(RecordKind::Presence),
        received_at: Timestamp::from_micros(0),
        traceparent: None,
        redelivered: false,
        payload: Bytes::from_static(b"{}"),
    })
}

#[test]
fn what_a_producer_leaves_behind_comes_back_in_order_and_goes_before_anything_new() {
    let log = KafkaLog::new(config(&[])).unwrap();
    log.known.topics_known.store(true, Ordering::Release);
    for ticket in 1..=3 {
        assert_eq!(log.hand_over(Ticket(ticket), &letter()), Attempt::Taken);
    }
    log.renew().unwrap();
    let returned: Vec<_> = log.deliveries().take();
    assert!(returned.iter().all(|it| it.outcome == Outcome::Returned));
    let tickets: Vec<_> = returned.iter().map(|it| it.ticket.0).collect();
    assert_eq!(tickets, [1, 2, 3]);
    // Until the fresh one has been answered.
    assert_eq!(log.hand_over(Ticket(4), &letter()), Attempt::Full);
    log.known.topics_known.store(true, Ordering::Release);
    assert_eq!(log.hand_over(Ticket(1), &letter()), Attempt::Taken);
}
