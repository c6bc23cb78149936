//! Processes and servers that die between a wish and its fate. Real processes, real time.

use super::site::fleet;
use crate::WATTLINE;
use crate::records::now;
use serde_json::{Value, json};
use std::time::{Duration, Instant};
use testkit::{
    Client, DesiredDocuments, Direction, Method, Mode, Proxy, ReceivedDocument, Running, World,
    eventually,
};
use uuid::Uuid;

/// A building in the world that an operator acts on.
struct Acted {
    world: World,
    building: Uuid,
    documents: DesiredDocuments,
    _api: Running,
    client: Client,
}

impl Acted {
    async fn new() -> Self {
        let world = World::new(WATTLINE, Mode::Direct).await;
        Self::of(world).await
    }

    async fn of(world: World) -> Self {
        let building = Uuid::new_v4();
        let uuids = || [Uuid::new_v4(), Uuid::new_v4()];
        world.apply_fleet(&fleet(building, uuids(), uuids()));
        let api = world.start(&["api"]);
        api.ready().await;
        Self {
            documents: DesiredDocuments::subscribe(world.mqtt_port()).await,
            client: world.client().await,
            world,
            building,
            _api: api,
        }
    }

    async fn act(&self, body: &Value) -> String {
        let path = format!("/buildings/{}/actions/", self.building);
        let answer = self.client.send(Method::POST, &path, Some(body)).await;
        assert_eq!(answer.status, 204, "{}", answer.text);
        answer
            .header("location")
            .trim_start_matches("/public-api")
            .to_owned()
    }

    async fn reaches(&self, location: &str, status: &str) -> Value {
        eventually(async || {
            let (_, action) = self.client.get(location).await;
            if action["status"] == status {
                Ok(action)
            } else {
                Err(action)
            }
        })
        .await
    }

    fn revisions(&self) -> Vec<i64> {
        let received = self.documents.of(self.building);
        received.iter().map(ReceivedDocument::revision).collect()
    }
}

fn curtailment(percentage: i32, timeout: Option<i32>) -> Value {
    let mut body = json!({"inverters_set_power_percentage": percentage});
    if let Some(timeout) = timeout {
        body["inverters_set_power_timeout"] = json!(timeout);
        body["inverters_set_power_timeout_percentage"] = json!(70);
    }
    body
}

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
    let mut world = World::new(WATTLINE, Mode::Direct).await;
    let direct = world.settings["WATTLINE_MQTT_URL"].clone();
    let proxy = Proxy::open(world.mqtt_port()).await;
    let through = format!("mqtt://127.0.0.1:{}", proxy.port());
    let name = "WATTLINE_MQTT_URL".to_owned();
    world.settings.insert(name.clone(), through);
    let mut acted = Acted::of(world).await;
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

    acted.world.settings.insert(name, direct);
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
        _api: mut api,
        ..
    } = acted;
    api.kill();
    let _control = world.start(&["control"]);
    let document = documents.revision(building, 2).await;
    let uuid = document.body["inverters"]["action_uuid"].as_str().unwrap();
    assert!(action.contains(uuid));
}

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
        _api: mut api,
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
    let mut world = World::new(WATTLINE, Mode::Direct).await;
    let direct = world.settings["WATTLINE_MQTT_URL"].clone();
    let proxy = Proxy::open(world.mqtt_port()).await;
    let through = format!("mqtt://127.0.0.1:{}", proxy.port());
    let url = "WATTLINE_MQTT_URL".to_owned();
    world.settings.insert(url.clone(), through);
    let mut acted = Acted::of(world).await;
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

    acted.world.settings.insert(url, direct);
    let id = "WATTLINE_MQTT_CLIENT_ID".to_owned();
    acted.world.settings.insert(id, "another".to_owned());
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
