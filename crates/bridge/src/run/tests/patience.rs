//! What is borne for how long.

use super::*;

#[tokio::test]
async fn a_log_that_reports_nothing_is_a_condition_until_it_does() {
    let mut stage = Stage::new().await;
    let mut broker = stage.connection().await;
    broker.publish(1..=2).await;
    let (first, _second) = (stage.handover().await, stage.handover().await);
    pass(Duration::from_secs(4)).await;
    assert!(stage.health.report().ready);
    pass(Duration::from_secs(3)).await;
    let report = stage.health.report();
    assert_eq!(report.causes[0].0, "delivery");
    first.receipt.durable();
    assert_eq!(broker.acknowledged().await, 1);
    assert!(stage.health.report().ready);
}

#[tokio::test]
async fn a_broker_that_sends_more_than_may_be_in_flight_is_held_up() {
    const SENT: u16 = 30_000;
    let stage = Stage::new().await;
    let mut broker = stage.connection().await;
    // The machine's buffers take it, the bridge does not.
    broker.publish(1..=SENT).await;
    tokio::time::sleep(QUIET * 3).await;
    let received = stage.count("received_messages_total");
    tokio::time::sleep(QUIET).await;
    assert_eq!(stage.count("received_messages_total"), received);
    // Ten may be in flight; besides these there is what came with one read.
    assert!((20..1_500).contains(&received), "{received}");
    stage.assert_conservation();
}

#[tokio::test]
async fn a_broker_that_says_nothing_is_given_up_after_twenty_seconds() {
    let stage = Stage::new().await;
    let _silent = stage.connection().await;
    pass(Duration::from_secs(19)).await;
    assert_eq!(stage.count("reconnects_total"), 0);
    pass(Duration::from_secs(2)).await;
    let _next = stage.connection().await;
    assert_eq!(stage.count("reconnects_total"), 1);
}

/// Lets time pass for the bridge, second by second, in no time.
async fn pass(span: Duration) {
    tokio::time::pause();
    for _ in 0..span.as_secs() {
        tokio::time::advance(Duration::from_secs(1)).await;
        for _ in 0..10 {
            tokio::task::yield_now().await;
        }
    }
    tokio::time::resume();
}
