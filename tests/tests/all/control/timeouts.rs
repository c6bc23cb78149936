//! Real timeouts, of a minute, while processes die.

use super::acted::{Acted, curtailment};
use crate::records::now;
use serde_json::{Value, json};
use std::time::{Duration, Instant};
use testkit::{DesiredDocuments, ReceivedDocument, eventually};
use uuid::Uuid;

#[tokio::test(flavor = "multi_thread")]
async fn a_real_timeout_ends_at_its_second_also_while_the_api_is_away() {
    let acted = Acted::new().await;
    let control = acted.world.start(&["control"]);
    control.ready().await;
    let asked = now();
    acted.act(&curtailment(10, Some(60))).await;
    let first = acted.documents.revision(acted.building, 2).await;
    let until = first.body["inverters"]["until"].as_i64().unwrap();
    assert!((asked + 60..=now() + 60).contains(&until), "{until}");
    let Acted {
        mut api,
        documents,
        building,
        ..
    } = acted;
    api.kill();
    let fallback = eventually_late(&documents, building, 3).await;
    let late = now() - until;
    assert!((0..=1).contains(&late), "{late} s late");
    assert_eq!(fallback.body["inverters"]["power_percentage"], 70);
    assert_eq!(fallback.body["inverters"]["until"], Value::Null);
    assert_eq!(documents.of(building).len(), 3, "once");
}

/// More patience than for anything else: a minute passes by itself.
async fn eventually_late(
    documents: &DesiredDocuments,
    building: Uuid,
    revision: i64,
) -> ReceivedDocument {
    testkit::eventually_within(Duration::from_secs(90), async || {
        let last = documents.of(building).pop();
        last.filter(|it| it.revision() >= revision).ok_or("not yet")
    })
    .await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_timeout_that_passed_while_control_was_dead_is_made_up_for_at_once_and_once() {
    let acted = Acted::new().await;
    let mut control = acted.world.start(&["control"]);
    let action = acted.act(&curtailment(10, Some(60))).await;
    acted.reaches(&action, "published").await;
    let first = acted.documents.revision(acted.building, 2).await;
    let until = first.body["inverters"]["until"].as_i64().unwrap();
    control.kill();
    let left = u64::try_from(until + 2 - now()).unwrap();
    tokio::time::sleep(Duration::from_secs(left)).await;
    assert_eq!(acted.revisions().last(), Some(&2));

    let control = acted.world.start(&["control"]);
    control.ready().await;
    let ready = Instant::now();
    let fallback = acted.documents.revision(acted.building, 3).await;
    assert!(fallback.at.saturating_duration_since(ready) <= Duration::from_secs(2));
    assert_eq!(fallback.body["inverters"]["power_percentage"], 70);
    let over = acted.reaches(&action, "expired").await;
    assert_eq!(over["ended_at"], until);
    // Another change comes behind whatever else there might have been.
    acted.act(&curtailment(50, None)).await;
    acted.documents.revision(acted.building, 4).await;
    let of_fallback = |it: &&ReceivedDocument| it.revision() == 3;
    assert_eq!(
        acted
            .documents
            .of(acted.building)
            .iter()
            .filter(of_fallback)
            .count(),
        1
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_over_before_control_was_there_is_never_published() {
    let acted = Acted::new().await;
    let body = json!({"grid_target_delivery_watts": 5, "grid_target_duration": 1});
    let action = acted.act(&body).await;
    let over = now() + 2;
    eventually(async || {
        if now() > over {
            Ok(())
        } else {
            Err("not over yet")
        }
    })
    .await;
    let _control = acted.world.start(&["control"]);
    let document = acted.documents.revision(acted.building, 2).await;
    assert_eq!(document.body["grid_target"], Value::Null);
    acted.reaches(&action, "expired").await;
    let all = acted.documents.of(acted.building);
    assert!(
        all.iter().all(|it| it.body["grid_target"].is_null()),
        "{all:?}"
    );
}
