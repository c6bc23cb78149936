//! The rate limit: one budget a user, whatever is asked, over all processes.

use crate::WATTLINE;
use serde_json::json;
use std::collections::BTreeMap;
use testkit::{
    Answer, ApiUnderClock, BuildingPlan, Client, Method, Mode, PASSWORD, USERNAME, World,
};
use tokio::task::JoinSet;
use uuid::Uuid;

const START: i64 = 1_800_000_000;
const HOUR_S: u64 = 60 * 60;
const LIMIT: i64 = 500;

async fn served() -> (World, Uuid, ApiUnderClock, Client) {
    let world = World::new(WATTLINE, Mode::Direct).await;
    let building = world.building();
    let api = ApiUnderClock::start(&world, START).await;
    let client = api.client().login(USERNAME, PASSWORD).await;
    (world, building, api, client)
}

/// Limit, remaining and reset, as the headers tell them.
#[track_caller]
fn budget(answer: &Answer) -> (i64, i64, u64) {
    let number = |name: &str| {
        let text = answer.header(name);
        text.parse()
            .unwrap_or_else(|_| panic!("{name} is {text:?}: {answer:?}"))
    };
    let reset = number("ratelimit-reset");
    let reset = u64::try_from(reset).unwrap();
    (
        number("ratelimit-limit"),
        number("ratelimit-remaining"),
        reset,
    )
}

async fn list(client: &Client) -> Answer {
    client.send(Method::GET, "/buildings/", None).await
}

/// Says that so much of the running hour is spent.
async fn spend(world: &World, spent: i64) {
    sqlx::query("update request_budget set spent = $1")
        .bind(spent)
        .execute(&world.database)
        .await
        .unwrap();
}

async fn execute(world: &World, statement: &str) {
    sqlx::query(statement)
        .execute(&world.database)
        .await
        .unwrap();
}

#[track_caller]
fn is_spent(answer: &Answer, limit: i64, reset_s: u64) {
    assert_eq!(
        (answer.status, answer.code()),
        (429, "too_many_requests"),
        "{}",
        answer.text
    );
    assert_eq!(budget(answer), (limit, 0, reset_s));
    assert_eq!(answer.header("retry-after"), reset_s.to_string());
}

#[tokio::test(flavor = "multi_thread")]
async fn whatever_a_request_with_a_valid_token_is_answered_it_counts_and_is_told_the_budget() {
    let (_world, building, api, client) = served().await;
    let own = format!("/buildings/{building}");
    let foreign = format!("/buildings/{}/sensors/", Uuid::new_v4());
    let large = json!({"padding": "x".repeat(64 * 1024)});
    let asked = [
        (Method::GET, "/buildings/".to_owned(), None, 200),
        (Method::HEAD, "/buildings/".to_owned(), None, 200),
        (Method::GET, format!("{own}/electricity/latest/"), None, 204),
        (
            Method::GET,
            format!("{own}/electricity/sensors/latest/"),
            None,
            400,
        ),
        (Method::GET, foreign, None, 404),
        (Method::GET, "/nothing/".to_owned(), None, 404),
        (Method::GET, format!("{own}/nothing/"), None, 404),
        (Method::DELETE, format!("{own}/sensors/"), None, 405),
        (Method::GET, format!("{own}/sensors/"), Some(&large), 413),
    ];
    let mut remaining = LIMIT;
    for (method, path, body, status) in asked {
        let answer = client.send(method.clone(), &path, body).await;
        assert_eq!(answer.status, status, "{method} {path}: {}", answer.text);
        remaining -= 1;
        assert_eq!(
            budget(&answer),
            (LIMIT, remaining, HOUR_S),
            "{method} {path}"
        );
    }
    api.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn token_endpoints_and_requests_without_a_valid_token_do_not_count() {
    let (_world, _, api, client) = served().await;
    assert_eq!(budget(&list(&client).await).1, LIMIT - 1);
    let login = client.log_in(USERNAME, PASSWORD).await;
    let refresh = login.body["refresh"].as_str().unwrap();
    let answers = [
        client.refresh(refresh).await,
        client.refresh(refresh).await,
        client.send(Method::GET, "/token/", None).await,
        list(&api.client()).await,
        list(&api.client().with_token(refresh)).await,
        list(&api.client().with_token("x")).await,
        login.clone(),
    ];
    let statuses: Vec<u16> = answers.iter().map(|it| it.status).collect();
    assert_eq!(statuses, [200, 401, 405, 401, 401, 401, 200]);
    for answer in answers {
        assert_eq!(answer.header("ratelimit-limit"), "", "{answer:?}");
    }
    assert_eq!(budget(&list(&client).await).1, LIMIT - 2);
    api.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_hour_is_fixed_and_begins_with_its_first_request() {
    let (world, _, api, client) = served().await;
    api.advance_seconds(90);
    assert_eq!(budget(&list(&client).await), (LIMIT, LIMIT - 1, HOUR_S));
    api.advance_seconds(600);
    assert_eq!(
        budget(&list(&client).await),
        (LIMIT, LIMIT - 2, HOUR_S - 600)
    );
    spend(&world, LIMIT - 1).await;
    assert_eq!(budget(&list(&client).await), (LIMIT, 0, HOUR_S - 600));
    is_spent(&list(&client).await, LIMIT, HOUR_S - 600);
    // What is checked after the limit is not told: the building, the path, the method.
    let foreign = format!("/buildings/{}/sensors/", Uuid::new_v4());
    is_spent(
        &client
            .send(Method::from_bytes(b"BREW").unwrap(), &foreign, None)
            .await,
        LIMIT,
        HOUR_S - 600,
    );
    // An access token lives 15 minutes only.
    api.advance_seconds(HOUR_S - 601);
    let client = api.client().login(USERNAME, PASSWORD).await;
    is_spent(&list(&client).await, LIMIT, 1);
    api.advance_seconds(1);
    assert_eq!(budget(&list(&client).await), (LIMIT, LIMIT - 1, HOUR_S));
    api.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_linked_or_unlinked_building_changes_the_limit_at_once() {
    let (world, building, api, client) = served().await;
    list(&client).await;
    spend(&world, LIMIT).await;
    is_spent(&list(&client).await, LIMIT, HOUR_S);
    is_spent(&list(&client).await, LIMIT, HOUR_S);
    world.apply(&[BuildingPlan::new()]);
    // The two 429s have spent nothing of the second building's.
    assert_eq!(budget(&list(&client).await), (2 * LIMIT, LIMIT - 1, HOUR_S));
    execute(
        &world,
        &format!("delete from membership where building_uuid = '{building}'"),
    )
    .await;
    is_spent(&list(&client).await, LIMIT, HOUR_S);
    execute(&world, "delete from membership").await;
    is_spent(&list(&client).await, LIMIT, HOUR_S);
    execute(&world, "delete from request_budget").await;
    assert_eq!(budget(&list(&client).await), (LIMIT, LIMIT - 1, HOUR_S));
    api.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_clock_that_was_wrong_shuts_nobody_out() {
    let (world, _, api, client) = served().await;
    list(&client).await;
    spend(&world, LIMIT).await;
    execute(
        &world,
        "update request_budget set window_start = window_start + interval '1 year'",
    )
    .await;
    assert_eq!(budget(&list(&client).await), (LIMIT, LIMIT - 1, HOUR_S));
    api.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn every_user_has_a_budget_of_their_own() {
    let (world, building, api, client) = served().await;
    world.apply_fleet(&json!({
        "buildings": [],
        "users": [{"username": "bob", "password": "b", "buildings": [{"uuid": building, "role": "viewer"}]}],
    }));
    let bob = api.client().login("bob", "b").await;
    assert_eq!(budget(&list(&client).await).1, LIMIT - 1);
    assert_eq!(budget(&list(&bob).await).1, LIMIT - 1);
    assert_eq!(budget(&list(&client).await).1, LIMIT - 2);
    api.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn concurrent_requests_to_two_processes_spend_one_budget_exactly() {
    const BEYOND: usize = 60;
    const AT_ONCE: usize = 20;
    let world = World::new(WATTLINE, Mode::Direct).await;
    world.building();
    let first = world.start(&["api"]);
    let (second, port) = world.start_another_api();
    first.ready().await;
    second.ready().await;
    let one = world.client().await;
    let login = one.log_in(USERNAME, PASSWORD).await;
    let other = Client::new(port).with_token(login.body["access"].as_str().unwrap());
    let total = usize::try_from(LIMIT).unwrap() + BEYOND;
    let mut tasks = JoinSet::new();
    for index in 0..AT_ONCE {
        let client = [&one, &other][index % 2].clone();
        tasks.spawn(async move {
            let mut answers = Vec::new();
            for _ in 0..total / AT_ONCE {
                answers.push(list(&client).await);
            }
            answers
        });
    }
    let answers: Vec<Answer> = tasks.join_all().await.into_iter().flatten().collect();
    let mut by_status: BTreeMap<u16, Vec<i64>> = BTreeMap::new();
    for answer in &answers {
        by_status
            .entry(answer.status)
            .or_default()
            .push(budget(answer).1);
    }
    let mut remaining = by_status.remove(&200).unwrap();
    remaining.sort_unstable();
    // Each request that was let through was told another rest: none was counted twice or not at all.
    assert_eq!(remaining, (0..LIMIT).collect::<Vec<_>>());
    assert_eq!(by_status, BTreeMap::from([(429, vec![0; BEYOND])]));
    let refused = first
        .metric("wattline_api_rate_limited_requests_total")
        .await
        + second
            .metric("wattline_api_rate_limited_requests_total")
            .await;
    assert!((refused - 60.0).abs() < 0.5, "{refused}");
}
