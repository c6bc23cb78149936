//! What is the service's own fault: told to those who ask, with nothing internal, and over again when
//! it is mended.

use crate::WATTLINE;
use serde_json::json;
use testkit::{
    Answer, Client, DatabaseServer, Method, Mode, PASSWORD, Running, USERNAME, World, eventually,
};

async fn buildings(client: &Client) -> Answer {
    client.send(Method::GET, "/buildings/", None).await
}

async fn is_away(client: &Client, api: &Running) {
    let answer = eventually(async || {
        let answer = buildings(client).await;
        if answer.status == 503 {
            Ok(answer)
        } else {
            Err(answer)
        }
    })
    .await;
    assert_eq!(answer.code(), "unavailable");
    assert_eq!(answer.header("content-type"), "application/problem+json");
    let retry_after: u64 = answer.header("retry-after").parse().unwrap();
    assert!(retry_after >= 1);
    assert!(
        !answer.text.contains("sql") && !answer.text.contains("socket"),
        "{}",
        answer.text
    );
    let condition = eventually(async || match api.readiness().await {
        Ok((503, body)) => Ok(body["conditions"]["database"].clone()),
        other => Err(other),
    })
    .await;
    assert_ne!(condition, "ready");
}

async fn is_back(client: &Client, api: &Running) {
    eventually(async || {
        let answer = buildings(client).await;
        if answer.status == 200 {
            Ok(())
        } else {
            Err(answer)
        }
    })
    .await;
    api.ready().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_database_that_is_away_is_503_and_readiness_is_red_until_it_is_back() {
    let database = tokio::task::spawn_blocking(DatabaseServer::start)
        .await
        .unwrap();
    let mut world = World::new(WATTLINE, Mode::Direct).await;
    world
        .settings
        .insert("WATTLINE_DATABASE_URL".to_owned(), database.url());
    world.command(&["migrate"]);
    world.building();
    let mut api = world.start(&["api"]);
    api.ready().await;
    let client = world.client().await;
    is_back(&client, &api).await;

    database.control().kill();
    is_away(&client, &api).await;
    tokio::task::block_in_place(|| database.control().restart().unwrap());
    is_back(&client, &api).await;

    // One that takes what it is told and never answers.
    database.control().freeze();
    is_away(&client, &api).await;
    database.control().thaw();
    is_back(&client, &api).await;

    assert!(api.stop().success());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_500_tells_a_request_id_that_finds_its_cause_in_the_log_and_nothing_else() {
    let world = World::new(WATTLINE, Mode::Direct).await;
    world.building();
    let api = world.start(&["api"]);
    api.ready().await;
    sqlx::query("update app_user set password_hash = 'no hash'")
        .execute(&world.database)
        .await
        .unwrap();
    let answer = Client::new(world.http_port)
        .log_in(USERNAME, PASSWORD)
        .await;
    assert_eq!((answer.status, answer.code()), (500, "internal_error"));
    let request_id = answer.header("x-request-id");
    assert_eq!(answer.body["request_id"], json!(request_id));
    let log = api.log();
    let line = log.lines().find(|line| line.contains(request_id)).unwrap();
    assert!(
        line.contains("ERROR") && line.contains("password hash"),
        "{line}"
    );
    assert!(!answer.text.contains("hash"), "{}", answer.text);
    assert!(!log.contains(PASSWORD), "{log}");
}
