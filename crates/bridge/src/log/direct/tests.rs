use super::*;
use bytes::Bytes;
use domain::time::Timestamp;
use tokio::sync::mpsc::{Receiver, channel};
use wire::envelope::Message;

fn letter() -> Letter {
    Letter::Record(Message {
        source: "v1".to_owned(),
        building: None,
        kind: None,
        received_at: Timestamp::from_micros(0),
        traceparent: None,
        redelivered: false,
        payload: Bytes::from_static(b"{}"),
    })
}

fn log(room: usize) -> (DirectLog, Receiver<Handover>) {
    let (sender, receiver) = channel(room);
    (DirectLog::new(sender), receiver)
}

#[tokio::test]
async fn a_receipt_says_durable_only_when_it_is_told_to() {
    let (log, mut receiver) = log(2);
    for ticket in [1, 2] {
        assert_eq!(log.hand_over(Ticket(ticket), &letter()), Attempt::Taken);
    }
    let first = receiver.recv().await.unwrap();
    let second = receiver.recv().await.unwrap();
    assert!(log.deliveries().take().is_empty());
    first.receipt.durable();
    drop(second);
    log.deliveries().arrived().await;
    let reports = log.deliveries().take();
    assert_eq!(reports[0].ticket, Ticket(1));
    assert_eq!(reports[0].outcome, Outcome::Durable);
    assert_eq!(reports[1].ticket, Ticket(2));
    assert!(matches!(reports[1].outcome, Outcome::Failed(_)));
    assert_eq!(reports.len(), 2);
}

#[tokio::test]
async fn a_full_channel_takes_nothing_until_there_is_room() {
    let (log, mut receiver) = log(1);
    assert_eq!(log.hand_over(Ticket(1), &letter()), Attempt::Taken);
    assert_eq!(log.hand_over(Ticket(2), &letter()), Attempt::Full);
    assert!(log.deliveries().take().is_empty());
    receiver.recv().await.unwrap().receipt.durable();
    log.room().await;
    assert_eq!(log.hand_over(Ticket(2), &letter()), Attempt::Taken);
}

#[test]
fn a_stage_that_has_ended_is_told_as_such() {
    let (log, receiver) = log(1);
    drop(receiver);
    let attempt = log.hand_over(Ticket(1), &letter());
    assert!(matches!(attempt, Attempt::Ended(_)));
}
