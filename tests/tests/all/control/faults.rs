//! Processes and servers that die between a wish and its fate. Real processes, real time.

use super::acted::{Acted, curtailment};
use serde_json::Value;
use std::time::Duration;
use testkit::{DesiredDocuments, Direction, Method, eventually};

fn published(action: &Value) -> usize {
    let steps = action["history"].as_array().unwrap().iter();
    steps.filter(|step| step["status"] == "published").count()
}

fn never_fall(revisions: &[i64]) {
    assert!(
        revisions.is_sorted(),
        "a revision came after a higher one: {revisions:?}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn killing_control_before_it_notes_what_the_broker_confirmed_changes_nothing() {
    let (mut acted, proxy) = Acted::through_proxy().await;
    let mut control = acted.world.start(&["control"]);
    control.ready().await;
    acted.documents.revision(acted.building, 1).await;
    proxy.hold(Direction::ToClient);
    let action = acted.act(&curtailment(10, None)).await;
    acted.documents.revision(acted.building, 2).await;
    let (_, before) = acted.client.get(&action).await;
    assert_eq!(
        before["status"], "accepted",
        "the confirmation is held back"
    );
    control.kill();

    acted.go_straight();
    let _control = acted.world.start(&["control"]);
    let after = acted.reaches(&action, "published").await;
    assert_eq!(published(&after), 1);
    let revisions = acted.revisions();
    assert_eq!(revisions.last(), Some(&2));
    never_fall(&revisions);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_answered_is_published_though_the_api_died_and_control_was_away() {
    let acted = Acted::new().await;
    let action = acted.act(&curtailment(10, None)).await;
    let Acted {
        world,
        documents,
        building,
        mut api,
        ..
    } = acted;
    api.kill();
    let _control = world.start(&["control"]);
    let document = documents.revision(building, 2).await;
    let uuid = document.body["inverters"]["action_uuid"].as_str().unwrap();
    assert!(action.contains(uuid));
}

#[tokio::test(flavor = "multi_thread")]
async fn two_control_processes_one_of_which_dies_never_publish_a_lower_revision_after_a_higher_one()
{
    const ACTIONS: i32 = 150;
    let mut acted = Acted::new().await;
    let name = "WATTLINE_MQTT_CLIENT_ID".to_owned();
    acted.world.settings.insert(name.clone(), "one".to_owned());
    let mut one = acted.world.start(&["control"]);
    acted.world.settings.insert(name, "two".to_owned());
    let two = acted.world.start(&["control"]);
    one.ready().await;
    two.ready().await;
    let mut last = String::new();
    for number in 0..ACTIONS {
        last = acted.act(&curtailment(number % 100, None)).await;
        if number == ACTIONS / 2 {
            one.kill();
        }
    }
    acted.reaches(&last, "published").await;
    acted
        .documents
        .revision(acted.building, i64::from(ACTIONS) + 1)
        .await;
    let revisions = acted.revisions();
    never_fall(&revisions);
    assert_eq!(revisions.last(), Some(&(i64::from(ACTIONS) + 1)));
}

#[tokio::test(flavor = "multi_thread")]
async fn while_the_broker_is_away_wishes_are_taken_and_end_and_then_it_is_told_what_is_left() {
    let acted = Acted::new().await;
    let control = acted.world.start(&["control"]);
    control.ready().await;
    acted.documents.revision(acted.building, 1).await;
    acted.world.mosquitto().kill();
    eventually(async || match control.readiness().await {
        Ok((503, body)) if body.to_string().contains("mqtt") => Ok(()),
        other => Err(other),
    })
    .await;
    let superseded = acted.act(&curtailment(10, None)).await;
    let action = acted.act(&curtailment(20, None)).await;
    assert_eq!(
        acted.reaches(&superseded, "superseded").await["history"]
            .as_array()
            .unwrap()
            .len(),
        2
    );
    acted.world.mosquitto().restart().unwrap();
    acted.reaches(&action, "published").await;
    let document = acted.documents.revision(acted.building, 3).await;
    assert_eq!(document.body["inverters"]["power_percentage"], 20);
    control.ready().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_broker_that_lost_its_memory_is_told_everything_again() {
    let acted = Acted::new().await;
    let control = acted.world.start(&["control"]);
    control.ready().await;
    let action = acted.act(&curtailment(20, None)).await;
    acted.reaches(&action, "published").await;
    acted.world.mosquitto().kill();
    let memory = acted.world.folder().join("mosquitto").join("mosquitto.db");
    if memory.exists() {
        std::fs::remove_file(memory).unwrap();
    }
    acted.world.mosquitto().restart().unwrap();
    eventually(async || {
        // A subscriber that knows nothing: only what is retained now counts.
        let new = DesiredDocuments::subscribe(acted.world.mqtt_port()).await;
        let retained = testkit::eventually_within(Duration::from_secs(1), async || {
            Ok::<_, ()>(new.of(acted.building))
        });
        let retained = retained.await;
        if retained.iter().any(|it| it.revision() == 2) {
            Ok(())
        } else {
            Err(retained)
        }
    })
    .await;
    let (_, action) = acted.client.get(&action).await;
    assert_eq!(published(&action), 1, "its fate does not tell it twice");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_control_process_that_is_frozen_while_it_publishes_holds_nobody_up_for_long() {
    let (mut acted, proxy) = Acted::through_proxy().await;
    let frozen = acted.world.start(&["control"]);
    frozen.ready().await;
    acted.documents.revision(acted.building, 1).await;
    proxy.hold(Direction::ToServer);
    acted.act(&curtailment(10, None)).await;
    let topic = acted.building.to_string();
    eventually(async || {
        let sent = proxy.sent_to_server();
        let of_building = |bytes: &Vec<u8>| {
            let text = String::from_utf8_lossy(bytes);
            text.matches(&topic).count()
        };
        // Revision 1, and the one that is held back.
        let documents: usize = sent.iter().map(of_building).sum();
        if documents >= 2 {
            Ok(())
        } else {
            Err(documents)
        }
    })
    .await;
    frozen.signal("STOP");

    acted.go_straight();
    let _control = acted.world.start(&["control"]);
    let action = acted.act(&curtailment(20, None)).await;
    acted.reaches(&action, "published").await;
    acted.documents.revision(acted.building, 3).await;
    // What was on its way arrives, and the process goes on: the newest document is the last word.
    proxy.release();
    frozen.signal("CONT");
    eventually(async || {
        let left = acted
            .world
            .count("select count(*) from desired_outbox")
            .await;
        let last = acted.revisions().pop();
        let caught_up = frozen
            .readiness()
            .await
            .is_ok_and(|(status, _)| status == 200);
        if left == 0 && last == Some(3) && caught_up {
            Ok(())
        } else {
            Err((left, last))
        }
    })
    .await;
    let new = DesiredDocuments::subscribe(acted.world.mqtt_port()).await;
    assert_eq!(
        new.revision(acted.building, 1).await.revision(),
        3,
        "what is retained"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn control_stops_at_once_also_with_a_document_on_its_way() {
    let acted = Acted::new().await;
    for _ in 0..3 {
        let mut control = acted.world.start(&["control"]);
        control.ready().await;
        acted.act(&curtailment(10, None)).await;
        control.signal("TERM");
        assert!(control.wait(Duration::from_secs(5)).success());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_times_of_actions_that_come_at_once_follow_their_order() {
    let acted = Acted::new().await;
    let path = format!("/buildings/{}/actions/", acted.building);
    let body = curtailment(10, None);
    let posts = (0..40).map(|_| acted.client.send(Method::POST, &path, Some(&body)));
    for answer in futures_util::future::join_all(posts).await {
        assert_eq!(answer.status, 204, "{}", answer.text);
    }
    let times = "select count(*) from action where ended_at < created_at";
    assert_eq!(acted.world.count(times).await, 0);
    let order = "select count(*) from (select created_at, lag(created_at) over (order by number)
        as before from action) actions where created_at < before";
    assert_eq!(acted.world.count(order).await, 0);
    let steps =
        "select count(*) from (select at, lag(at) over (partition by action_uuid order by number)
        as before from action_step) steps where at < before";
    assert_eq!(acted.world.count(steps).await, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_killed_process_had_on_its_way_is_not_the_last_word() {
    let (mut acted, proxy) = Acted::through_proxy().await;
    let mut killed = acted.world.start(&["control"]);
    killed.ready().await;
    acted.documents.revision(acted.building, 1).await;
    proxy.hold(Direction::ToServer);
    acted.act(&curtailment(10, None)).await;
    let attempts = "select count(*) from desired_attempt";
    eventually(async || match acted.world.count(attempts).await {
        1 if !proxy.sent_to_server().is_empty() => Ok(()),
        other => Err(other),
    })
    .await;
    killed.kill();
    acted.go_straight();
    let _control = acted.world.start(&["control"]);
    let action = acted.act(&curtailment(20, None)).await;
    acted.reaches(&action, "published").await;
    proxy.release();
    let again = "select count(*) from desired_outbox where not_before is not null";
    assert_eq!(
        acted.world.count(again).await,
        1,
        "it is to be published again"
    );
    eventually(async || match acted.world.count(again).await {
        0 => Ok(()),
        left => Err(left),
    })
    .await;
    let new = DesiredDocuments::subscribe(acted.world.mqtt_port()).await;
    assert_eq!(new.revision(acted.building, 1).await.revision(), 3);
    let (_, action) = acted.client.get(&action).await;
    assert_eq!(published(&action), 1);
}
