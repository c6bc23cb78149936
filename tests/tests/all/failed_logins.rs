//! Logins that fail, and what they cost the next ones.

use crate::WATTLINE;
use testkit::{Answer, ApiUnderClock, Client, Mode, PASSWORD, USERNAME, World};
use tokio::task::JoinSet;

const START: i64 = 1_800_000_000;
const WINDOW_S: u64 = 15 * 60;
const BY_NAME: usize = 5;
const BY_ADDRESS: usize = 20;

async fn served() -> (World, ApiUnderClock, Client) {
    let world = World::new(WATTLINE, Mode::Direct).await;
    world.building();
    let api = ApiUnderClock::start(&world, START).await;
    let client = api.client();
    (world, api, client)
}

#[track_caller]
fn is_wrong(answer: &Answer) {
    assert_eq!(
        (answer.status, answer.code()),
        (401, "authentication_failed"),
        "{}",
        answer.text
    );
}

#[track_caller]
fn must_wait(answer: &Answer, seconds: u64) {
    assert_eq!(
        (answer.status, answer.code()),
        (429, "too_many_failed_logins"),
        "{}",
        answer.text
    );
    assert_eq!(answer.header("retry-after"), seconds.to_string());
}

#[tokio::test(flavor = "multi_thread")]
async fn the_fifth_failure_of_a_name_is_told_as_one_and_a_right_login_between_takes_none_back() {
    let (_world, api, client) = served().await;
    for failure in 1..=BY_NAME {
        is_wrong(&client.log_in(USERNAME, "wrong").await);
        let right = client.log_in(USERNAME, PASSWORD).await;
        if failure < BY_NAME {
            assert_eq!(right.status, 200, "after failure {failure}");
        } else {
            must_wait(&right, WINDOW_S);
        }
    }
    api.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_wait_ends_when_the_oldest_of_five_failures_does_not_count_any_more() {
    let (_world, api, client) = served().await;
    // At 0, 60, 120, 180 and 240 seconds.
    for failure in 0..BY_NAME {
        if failure > 0 {
            api.advance_seconds(60);
        }
        is_wrong(&client.log_in(USERNAME, "wrong").await);
    }
    for attempt in 0..3 {
        // Attempts that wait make nobody wait longer.
        let password = if attempt == 0 { PASSWORD } else { "wrong" };
        must_wait(&client.log_in(USERNAME, password).await, WINDOW_S - 240);
    }
    // Another name is another matter.
    is_wrong(&client.log_in("bob", PASSWORD).await);
    api.advance_seconds(WINDOW_S - 241);
    must_wait(&client.log_in(USERNAME, PASSWORD).await, 1);
    api.advance_seconds(1);
    assert_eq!(client.log_in(USERNAME, PASSWORD).await.status, 200);
    // The other four still count.
    is_wrong(&client.log_in(USERNAME, "wrong").await);
    must_wait(&client.log_in(USERNAME, PASSWORD).await, 60);
    api.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_name_that_nobody_has_and_a_disabled_user_wait_like_any_other() {
    let (world, api, client) = served().await;
    sqlx::query("update app_user set disabled = true")
        .execute(&world.database)
        .await
        .unwrap();
    for name in [USERNAME, "nobody", "no\0body"] {
        for _ in 0..BY_NAME {
            is_wrong(&client.log_in(name, PASSWORD).await);
        }
        must_wait(&client.log_in(name, PASSWORD).await, WINDOW_S);
    }
    api.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn after_twenty_failures_from_an_address_every_attempt_from_it_waits() {
    let (world, api, client) = served().await;
    for failure in 0..BY_ADDRESS {
        is_wrong(&client.log_in(&format!("user{failure}"), "wrong").await);
    }
    must_wait(&client.log_in(USERNAME, PASSWORD).await, WINDOW_S);
    // The same failures from somewhere else would not.
    sqlx::query("update login_failure set address = '192.0.2.1'")
        .execute(&world.database)
        .await
        .unwrap();
    assert_eq!(client.log_in(USERNAME, PASSWORD).await.status, 200);
    api.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_people_type_as_a_name_is_not_kept() {
    let (world, api, client) = served().await;
    is_wrong(&client.log_in("hunter2-by-mistake", "x").await);
    let kept = world.rows("select * from login_failure").await;
    assert_eq!(kept.len(), 1);
    assert!(!kept[0].to_string().contains("hunter2"), "{kept:?}");
    // Failures that count no longer go with the next one of the name.
    api.advance_seconds(WINDOW_S);
    is_wrong(&client.log_in("hunter2-by-mistake", "x").await);
    assert_eq!(world.rows("select 1 from login_failure").await.len(), 1);
    api.stop().await;
}

/// Sends wrong logins at once to two processes, and counts the answers 401 and 429.
async fn fail_at_once(name: impl Fn(usize) -> String, attempts: usize) -> (usize, usize) {
    let world = World::new(WATTLINE, Mode::Direct).await;
    world.building();
    let first = world.start(&["api"]);
    let (second, port) = world.start_another_api();
    first.ready().await;
    second.ready().await;
    let clients = [Client::new(world.http_port), Client::new(port)];
    let mut logins = JoinSet::new();
    for attempt in 0..attempts {
        let (client, name) = (clients[attempt % 2].clone(), name(attempt));
        logins.spawn(async move { client.log_in(&name, "wrong").await.status });
    }
    let statuses = logins.join_all().await;
    let count = |status| statuses.iter().filter(|it| **it == status).count();
    (count(401), count(429))
}

#[tokio::test(flavor = "multi_thread")]
async fn concurrent_failures_of_a_name_over_two_processes_are_five() {
    let counted = fail_at_once(|_| USERNAME.to_owned(), 30).await;
    assert_eq!(counted, (BY_NAME, 30 - BY_NAME));
}

#[tokio::test(flavor = "multi_thread")]
async fn concurrent_failures_from_an_address_over_two_processes_are_twenty() {
    let counted = fail_at_once(|attempt| format!("user{attempt}"), 40).await;
    assert_eq!(counted, (BY_ADDRESS, 40 - BY_ADDRESS));
}
