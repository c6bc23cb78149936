//! The whole service behind the broker configuration that is shipped: a user for each building.

use super::site::fleet;
use crate::WATTLINE;
use crate::records::now;
use crate::telling::all_tell;
use embedded::{Mosquitto, MosquittoOptions};
use serde_json::json;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use testkit::{Controller, DesiredDocuments, Method, Mode, World, eventually};
use uuid::Uuid;
use wire::topic::MqttTopic;

fn shipped_acl() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../deploy/mosquitto/acl")
}

fn start_broker(folder: &Path, users: &[String], acl: PathBuf) -> Mosquitto {
    let passwords = folder.join("passwords");
    let lines: String = users
        .iter()
        .map(|user| format!("{user}:secret\n"))
        .collect();
    std::fs::write(&passwords, lines).unwrap();
    std::fs::set_permissions(&passwords, std::fs::Permissions::from_mode(0o600)).unwrap();
    let hashed = Command::new("mosquitto_passwd")
        .arg("-U")
        .arg(&passwords)
        .status();
    assert!(hashed.unwrap().success());
    let mut options = MosquittoOptions::new(folder.join("broker"));
    options.password_file = Some(passwords);
    options.acl_file = Some(acl);
    Mosquitto::start(&options).unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn each_controller_hears_and_answers_for_its_own_building_and_no_other() {
    let mut world = World::new(WATTLINE, Mode::Direct).await;
    let (ours, other) = (Uuid::new_v4(), Uuid::new_v4());
    let users = ["wattline".to_owned(), ours.to_string(), other.to_string()];
    let folder = world.folder().to_owned();
    let broker = tokio::task::spawn_blocking(move || start_broker(&folder, &users, shipped_acl()));
    let broker = broker.await.unwrap();
    let port = broker.port();
    let url = format!("mqtt://wattline:secret@127.0.0.1:{port}");
    world.settings.insert("WATTLINE_MQTT_URL".to_owned(), url);
    for building in [ours, other] {
        let uuids = || [Uuid::new_v4(), Uuid::new_v4()];
        world.apply_fleet(&fleet(building, uuids(), uuids()));
    }
    let _serve = world.serve().await;
    let (ours_login, other_login) = (ours.to_string(), other.to_string());
    let hears = DesiredDocuments::subscribe_as(port, Some((&ours_login, "secret"))).await;
    let other_hears = DesiredDocuments::subscribe_as(port, Some((&other_login, "secret"))).await;
    let client = world.client().await;
    let mut actions = Vec::new();
    for building in [ours, other] {
        let body = json!({"battery_set_power_charge_watts": 1, "battery_set_power_timeout": 600});
        let path = format!("/buildings/{building}/actions/");
        let answer = client.send(Method::POST, &path, Some(&body)).await;
        assert_eq!(answer.status, 204, "{}", answer.text);
        actions.push(
            answer
                .header("location")
                .trim_start_matches("/public-api")
                .to_owned(),
        );
    }
    hears.revision(ours, 2).await;
    other_hears.revision(other, 2).await;
    assert!(hears.of(other).is_empty() && other_hears.of(ours).is_empty());

    // The other building's controller answers for ours, and tells it what to do: the broker takes neither.
    let report = |action: &str, status: &str| {
        let action = action.trim_end_matches('/').rsplit('/').next().unwrap();
        json!({"time": now(), "revision": 2, "outcomes": [{"action_uuid": action, "status": status}]})
            .to_string()
    };
    let intruder = Controller::connect_as(port, Some((&other_login, "secret")));
    intruder
        .reported(ours, report(&actions[0], "rejected"))
        .await;
    intruder
        .publish(&MqttTopic::desired(ours), "{\"revision\": 99}")
        .await;
    intruder
        .publish(&MqttTopic::desired(other), "{\"revision\": 99}")
        .await;
    intruder
        .reported(other, report(&actions[1], "accepted"))
        .await;
    let reaches = async |action: &str, status: &str| {
        eventually(async || {
            let (_, body) = client.get(action).await;
            if body["status"] == status {
                Ok(())
            } else {
                Err(body)
            }
        })
        .await;
    };
    reaches(&actions[1], "confirmed").await;
    let controller = Controller::connect_as(port, Some((&ours_login, "secret")));
    controller
        .reported(ours, report(&actions[0], "accepted"))
        .await;
    reaches(&actions[0], "confirmed").await;
    let told = |documents: &DesiredDocuments, building| {
        let revisions = documents.of(building).into_iter().map(|it| it.revision());
        revisions.filter(|revision| *revision > 2).count()
    };
    assert_eq!((told(&hears, ours), told(&other_hears, other)), (0, 0));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_document_that_the_broker_refuses_holds_up_no_other_and_is_tried_again_later() {
    let mut world = World::new(WATTLINE, Mode::Direct).await;
    let (refused, taken) = (Uuid::new_v4(), Uuid::new_v4());
    let folder = world.folder().to_owned();
    let acl = folder.join("acl");
    let topic = MqttTopic::desired(taken);
    std::fs::write(
        &acl,
        format!("user wattline\ntopic read v1/#\ntopic write {topic}\n"),
    )
    .unwrap();
    let users = ["wattline".to_owned()];
    let broker = tokio::task::spawn_blocking(move || start_broker(&folder, &users, acl));
    let broker = broker.await.unwrap();
    let login = Some(("wattline", "secret"));
    let url = format!("mqtt://wattline:secret@127.0.0.1:{}", broker.port());
    world.settings.insert("WATTLINE_MQTT_URL".to_owned(), url);
    for building in [refused, taken] {
        let uuids = || [Uuid::new_v4(), Uuid::new_v4()];
        world.apply_fleet(&fleet(building, uuids(), uuids()));
    }
    let control = world.start(&["control"]);
    let hears = DesiredDocuments::subscribe_as(broker.port(), login).await;
    hears.revision(taken, 1).await;
    control.ready().await;
    let waits = format!(
        "select count(*) from desired_outbox where building_uuid = '{refused}' and not_before > now()"
    );
    eventually(async || match world.count(&waits).await {
        1 => Ok(()),
        other => Err(other),
    })
    .await;
    assert_eq!(
        control.log().matches("refuses a desired document").count(),
        1
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_broker_that_refuses_every_document_is_told_once_and_control_is_not_ready() {
    let mut world = World::new(WATTLINE, Mode::Direct).await;
    let folder = world.folder().to_owned();
    let acl = folder.join("acl");
    std::fs::write(&acl, "user wattline\ntopic read v1/#\n").unwrap();
    let users = ["wattline".to_owned()];
    let broker = tokio::task::spawn_blocking({
        let acl = acl.clone();
        move || start_broker(&folder, &users, acl)
    });
    let mut broker = broker.await.unwrap();
    let url = format!("mqtt://wattline:secret@127.0.0.1:{}", broker.port());
    world.settings.insert("WATTLINE_MQTT_URL".to_owned(), url);
    for _ in 0..15 {
        world.building();
    }
    let control = world.start(&["control"]);
    let words: &[&str] = &["127.0.0.1:", "NotAuthorized", "v1/buildings/+/desired"];
    all_tell("documents refused", &[(&control, "outbox", words)]).await;
    // Every one of them is tried again and refused again, and that is no news.
    let waiting =
        "select count(*) from desired_outbox where not_before > now() + interval '2 seconds'";
    for _ in 0..2 {
        for expected in [15, 0] {
            eventually(async || match world.count(waiting).await {
                count if count == expected => Ok(()),
                other => Err(other),
            })
            .await;
        }
    }
    let refused = control.log().matches("the broker refuses").count();
    assert_eq!(refused, 11, "ten by name, and that there are more");

    std::fs::write(&acl, "user wattline\ntopic read v1/#\ntopic write v1/#\n").unwrap();
    tokio::task::block_in_place(|| broker.restart().unwrap());
    control.ready().await;
    eventually(async || match control.log() {
        log if log.contains("takes again what it refused") => Ok(()),
        log => Err(log),
    })
    .await;
}
