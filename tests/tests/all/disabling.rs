//! What those notice who are logged in when an operator takes something from them.

use crate::WATTLINE;
use crate::administration::told;
use crate::records::{meter, now};
use serde_json::{Value, json};
use testkit::{Client, Mode, PASSWORD, USERNAME, World, eventually};
use uuid::Uuid;

/// A user who is logged in: the client, and the refresh token.
async fn logged_in(world: &World) -> (Client, String) {
    let client = Client::new(world.http_port);
    let pair = client.log_in(USERNAME, PASSWORD).await;
    assert_eq!(pair.status, 200, "{}", pair.text);
    let text = |name: &str| pair.body[name].as_str().unwrap().to_owned();
    (client.with_token(&text("access")), text("refresh"))
}

async fn buildings(client: &Client) -> (u16, Vec<Uuid>) {
    let (status, body) = client.get("/buildings/").await;
    let found = body.as_array().into_iter().flatten();
    let uuids = found.map(|it| it["uuid"].as_str().unwrap().parse().unwrap());
    (status, uuids.collect())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_disabled_user_is_shut_out_at_once_and_comes_back_when_enabled() {
    let world = World::new(WATTLINE, Mode::Direct).await;
    let building = world.building();
    let api = world.start(&["api"]);
    api.ready().await;
    let (client, refresh) = logged_in(&world).await;
    assert_eq!(buildings(&client).await, (200, vec![building]));

    world.command(&["admin", "user", "disable", USERNAME]);
    assert_eq!(buildings(&client).await.0, 401);
    assert_eq!(client.refresh(&refresh).await.status, 401);
    assert_eq!(client.log_in(USERNAME, PASSWORD).await.status, 401);
    // The fleet file is silent about who is disabled.
    world.apply(&[]);
    assert_eq!(buildings(&client).await.0, 401);

    world.command(&["admin", "user", "enable", USERNAME]);
    assert_eq!(buildings(&client).await, (200, vec![building]));
    assert_eq!(client.refresh(&refresh).await.status, 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_removed_user_is_shut_out_and_a_new_password_ends_no_token() {
    let world = World::new(WATTLINE, Mode::Direct).await;
    let building = world.building();
    let api = world.start(&["api"]);
    api.ready().await;
    let (client, refresh) = logged_in(&world).await;
    let add = ["admin", "user", "add", USERNAME];
    let changed = world.attempt_with_input(&add, "another one");
    assert!(changed.status.success(), "{}", told(&changed));
    assert_eq!(client.log_in(USERNAME, PASSWORD).await.status, 401);
    assert_eq!(client.log_in(USERNAME, "another one").await.status, 200);
    assert_eq!(buildings(&client).await, (200, vec![building]));

    world.command(&["admin", "user", "remove", USERNAME]);
    assert_eq!(buildings(&client).await.0, 401);
    assert_eq!(client.refresh(&refresh).await.status, 401);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_revoked_token_is_blacklisted_and_the_others_are_not() {
    let world = World::new(WATTLINE, Mode::Direct).await;
    world.building();
    let api = world.start(&["api"]);
    api.ready().await;
    let (client, first) = logged_in(&world).await;
    let lines = world.command(&["admin", "token", "list", USERNAME, "--format", "json"]);
    let listed: Value = serde_json::from_str(lines.trim_end()).unwrap();
    let (_, second) = logged_in(&world).await;
    let (_, third) = logged_in(&world).await;

    let jti = listed["jti"].as_str().unwrap();
    world.command(&["admin", "token", "revoke", USERNAME, jti]);
    let refused = client.refresh(&first).await;
    assert_eq!((refused.status, refused.code()), (401, "token_not_valid"));
    assert_eq!(refused.body["detail"], "Token is blacklisted");
    assert_eq!(client.refresh(&second).await.status, 200);
    world.command(&["admin", "token", "revoke", USERNAME, "--all"]);
    assert_eq!(client.refresh(&third).await.status, 401);
    assert_eq!(buildings(&client).await.0, 200, "access ends by itself");
}

#[tokio::test(flavor = "multi_thread")]
async fn who_is_unlinked_finds_no_building() {
    let world = World::new(WATTLINE, Mode::Direct).await;
    let building = world.building();
    let api = world.start(&["api"]);
    api.ready().await;
    let (client, _) = logged_in(&world).await;
    let path = format!("/buildings/{building}/sensors/");
    assert_eq!(client.get(&path).await.0, 200);
    let uuid = building.to_string();
    world.command(&["admin", "link", "disable", USERNAME, &uuid]);
    assert_eq!(client.get(&path).await.0, 404);
    assert_eq!(buildings(&client).await, (200, vec![]));
    let viewer = ["admin", "link", "add", USERNAME, &uuid, "--role", "viewer"];
    world.command(&viewer);
    assert_eq!(client.get(&path).await.0, 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_retired_key_ends_what_it_signed() {
    let world = World::new(WATTLINE, Mode::Direct).await;
    world.building();
    let api = world.start(&["api"]);
    api.ready().await;
    let (client, _) = logged_in(&world).await;
    let keys = world.command(&["admin", "token", "list-keys", "--format", "json"]);
    let key: Value = serde_json::from_str(keys.trim_end()).unwrap();
    world.command(&["admin", "token", "new-key"]);
    assert_eq!(buildings(&client).await.0, 200);
    world.command(&["admin", "token", "retire-key", key["kid"].as_str().unwrap()]);
    eventually(async || match buildings(&client).await.0 {
        401 => Ok(()),
        other => Err(other),
    })
    .await;
    assert_eq!(buildings(&logged_in(&world).await.0).await.0, 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_disabled_building_is_there_for_nobody_and_keeps_its_data() {
    let world = World::new(WATTLINE, Mode::Direct).await;
    let building = world.building();
    let _serve = world.serve().await;
    let (client, _) = logged_in(&world).await;
    let controller = world.controller();
    let time = now() - 60;
    controller.telemetry(building, meter(time, 700)).await;
    let path = format!("/buildings/{building}/electricity/latest/");
    let read = async || match client.get(&path).await {
        (200, body) => Ok(body["value"].clone()),
        other => Err(other),
    };
    assert_eq!(eventually(read).await, json!(700));

    let uuid = building.to_string();
    world.command(&["admin", "building", "disable", &uuid]);
    assert_eq!(client.get(&path).await.0, 404);
    assert_eq!(buildings(&client).await, (200, vec![]));
    controller.telemetry(building, meter(time + 1, 800)).await;
    let refused = eventually(async || {
        let rows = world
            .rows("select reason, building_uuid from dead_letter")
            .await;
        if rows.is_empty() { Err(rows) } else { Ok(rows) }
    })
    .await;
    assert_eq!(
        refused,
        [json!({"reason": "unknown_building", "building_uuid": uuid})]
    );

    world.command(&["admin", "building", "enable", &uuid]);
    assert_eq!(eventually(read).await, json!(700));
    controller.telemetry(building, meter(time + 2, 900)).await;
    eventually(async || match read().await {
        Ok(value) if value == 900 => Ok(()),
        other => Err(other),
    })
    .await;
}
