//! The token table of the interface, row by row, under a clock of the test's own; then what must hold
//! over several processes.

use crate::WATTLINE;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use testkit::{Answer, ApiUnderClock, Client, Mode, PASSWORD, USERNAME, World, eventually};
use tokio::task::JoinSet;

const START: i64 = 1_800_000_000;
const ACCESS_LIFETIME_S: u64 = 15 * 60;
const REFRESH_LIFETIME_S: u64 = 60 * 24 * 60 * 60;
const OUTSTANDING: usize = 50;

/// A world with a user, an api whose clock stands at [`START`], and a client without a login.
async fn served() -> (World, ApiUnderClock, Client) {
    let world = World::new(WATTLINE, Mode::Direct).await;
    world.building();
    let api = ApiUnderClock::start(&world, START).await;
    let client = api.client();
    (world, api, client)
}

/// The pair that an answer gives: access, refresh, and nothing else.
#[track_caller]
pub(crate) fn pair(answer: &Answer) -> (String, String) {
    assert_eq!(answer.status, 200, "{}", answer.text);
    let body = answer.body.as_object().unwrap();
    let names: BTreeSet<&str> = body.keys().map(String::as_str).collect();
    assert_eq!(names, BTreeSet::from(["access", "refresh"]));
    let token = |name: &str| body[name].as_str().unwrap().to_owned();
    (token("access"), token("refresh"))
}

#[track_caller]
fn is_refused(answer: &Answer, detail: &str) {
    assert_eq!(
        (answer.status, answer.code()),
        (401, "token_not_valid"),
        "{}",
        answer.text
    );
    assert_eq!(answer.body["detail"], json!(detail));
    assert_eq!(answer.header("www-authenticate"), "Bearer");
}

async fn log_in(client: &Client) -> (String, String) {
    pair(&client.log_in(USERNAME, PASSWORD).await)
}

async fn list(client: &Client, access: &str) -> Answer {
    let client = client.clone().with_token(access);
    client.send(testkit::Method::GET, "/buildings/", None).await
}

#[tokio::test(flavor = "multi_thread")]
async fn an_access_token_is_worth_something_for_15_minutes_and_refresh_goes_on() {
    let (_world, api, client) = served().await;
    let (access, refresh) = log_in(&client).await;
    api.advance_seconds(ACCESS_LIFETIME_S - 1);
    assert_eq!(list(&client, &access).await.status, 200);
    api.advance_seconds(1);
    is_refused(&list(&client, &access).await, "Token is expired");
    let (access, _) = pair(&client.refresh(&refresh).await);
    assert_eq!(list(&client, &access).await.status, 200);
    api.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_refresh_token_is_used_once_and_stays_blacklisted() {
    let (_world, api, client) = served().await;
    let (_, first) = log_in(&client).await;
    let (access, second) = pair(&client.refresh(&first).await);
    assert_ne!(first, second);
    assert_eq!(list(&client, &access).await.status, 200);
    for wait_s in [0, 1, 24 * 60 * 60] {
        api.advance_seconds(wait_s);
        is_refused(&client.refresh(&first).await, "Token is blacklisted");
    }
    // The attempt with the old one takes nothing from the newest.
    let (_, third) = pair(&client.refresh(&second).await);
    is_refused(&client.refresh(&second).await, "Token is blacklisted");
    pair(&client.refresh(&third).await);
    api.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_refresh_token_expires_after_60_days_and_a_login_begins_anew() {
    let (_world, api, client) = served().await;
    let (_, early) = log_in(&client).await;
    let (_, late) = log_in(&client).await;
    api.advance_seconds(REFRESH_LIFETIME_S - 1);
    pair(&client.refresh(&early).await);
    api.advance_seconds(1);
    is_refused(&client.refresh(&late).await, "Token is expired");
    log_in(&client).await;
    api.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn one_kind_of_token_is_never_taken_for_the_other() {
    let (_world, api, client) = served().await;
    let (access, refresh) = log_in(&client).await;
    is_refused(&client.refresh(&access).await, "Token has wrong type");
    is_refused(&list(&client, &refresh).await, "Token has wrong type");
    pair(&client.refresh(&refresh).await);
    api.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_user_has_fifty_tokens_and_a_refresh_replaces_one() {
    let (world, api, client) = served().await;
    let mut refresh = String::new();
    for _ in 0..OUTSTANDING {
        refresh = log_in(&client).await.1;
    }
    let refused = async || {
        let answer = client.log_in(USERNAME, PASSWORD).await;
        assert_eq!(
            (answer.status, answer.code()),
            (403, "too_many_outstanding_tokens")
        );
        let detail = answer.body["detail"].as_str().unwrap();
        assert!(detail.contains("too many outstanding tokens"), "{detail}");
    };
    refused().await;
    let (_, refresh) = pair(&client.refresh(&refresh).await);
    refused().await;
    // What was revoked is not outstanding, and is as good as used.
    let newest = "(select jti from refresh_token where used_at is null order by issued_at limit 1)";
    let revoke = format!(
        "with gone as (delete from refresh_token where jti = {newest} returning 1) select count(*) from gone"
    );
    assert_eq!(world.count(&revoke).await, 1);
    log_in(&client).await;
    refused().await;
    api.advance_seconds(REFRESH_LIFETIME_S);
    is_refused(&client.refresh(&refresh).await, "Token is expired");
    log_in(&client).await;
    // The login has cleared the expired ones away.
    assert_eq!(world.count("select count(*) from refresh_token").await, 1);
    api.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_revoked_token_is_blacklisted() {
    let (world, api, client) = served().await;
    let (_, refresh) = log_in(&client).await;
    sqlx::query("delete from refresh_token")
        .execute(&world.database)
        .await
        .unwrap();
    is_refused(&client.refresh(&refresh).await, "Token is blacklisted");
    api.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_disabled_user_is_out_at_once_and_comes_back_with_the_same_tokens() {
    let (world, api, client) = served().await;
    let (access, refresh) = log_in(&client).await;
    let set = async |statement: &str| {
        sqlx::query(statement)
            .execute(&world.database)
            .await
            .unwrap();
    };
    let is_out = async || {
        let words = "Token is of a user who is not active";
        is_refused(&list(&client, &access).await, words);
        is_refused(&client.refresh(&refresh).await, words);
        let login = client.log_in(USERNAME, PASSWORD).await;
        assert_eq!((login.status, login.code()), (401, "authentication_failed"));
    };
    set("update app_user set disabled = true").await;
    is_out().await;
    set("update app_user set disabled = false").await;
    assert_eq!(list(&client, &access).await.status, 200);
    pair(&client.refresh(&refresh).await);
    set("delete from app_user").await;
    is_out().await;
    api.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_has_expired_is_cleared_away_without_a_login() {
    let (world, api, client) = served().await;
    let (access, _) = log_in(&client).await;
    assert_eq!(client.log_in("nobody", "wrong").await.status, 401);
    assert_eq!(list(&client, &access).await.status, 200);
    let left = "select (select count(*) from refresh_token) + (select count(*) from login_failure)
                + (select count(*) from request_budget)";
    assert_eq!(world.count(left).await, 3);
    api.stop().await;
    let expired = START + i64::try_from(REFRESH_LIFETIME_S).unwrap();
    let api = ApiUnderClock::start(&world, expired).await;
    eventually(async || match world.count(left).await {
        0 => Ok(()),
        rows => Err(rows),
    })
    .await;
    api.stop().await;
}

/// Two api processes on one database.
async fn two_apis(world: &World) -> (Vec<testkit::Running>, [Client; 2]) {
    let first = world.start(&["api"]);
    let (second, port) = world.start_another_api();
    first.ready().await;
    second.ready().await;
    let clients = [Client::new(world.http_port), Client::new(port)];
    (vec![first, second], clients)
}

#[tokio::test(flavor = "multi_thread")]
async fn of_a_hundred_concurrent_logins_over_two_processes_fifty_get_a_token() {
    let world = World::new(WATTLINE, Mode::Direct).await;
    world.building();
    let (_apis, clients) = two_apis(&world).await;
    let mut logins = JoinSet::new();
    for index in 0..2 * OUTSTANDING {
        let client = clients[index % 2].clone();
        logins.spawn(async move { client.log_in(USERNAME, PASSWORD).await.status });
    }
    let mut statuses = logins.join_all().await;
    statuses.sort_unstable();
    let expected = [[200; OUTSTANDING], [403; OUTSTANDING]].concat();
    assert_eq!(statuses, expected);
}

#[tokio::test(flavor = "multi_thread")]
async fn of_concurrent_refreshes_over_two_processes_one_wins() {
    const ROUNDS: usize = 30;
    let world = World::new(WATTLINE, Mode::Direct).await;
    world.building();
    let (_apis, clients) = two_apis(&world).await;
    let (_, mut refresh) = log_in(&clients[0]).await;
    for round in 0..ROUNDS {
        let mut attempts = JoinSet::new();
        for client in clients.iter().cycle().take(4) {
            let (client, refresh) = (client.clone(), refresh.clone());
            attempts.spawn(async move { client.refresh(&refresh).await });
        }
        let answers = attempts.join_all().await;
        let (won, lost): (Vec<_>, Vec<_>) = answers.iter().partition(|it| it.status == 200);
        assert_eq!((won.len(), lost.len()), (1, 3), "round {round}");
        for answer in lost {
            is_refused(answer, "Token is blacklisted");
        }
        refresh = pair(won[0]).1;
    }
    let outstanding = "select count(*) from refresh_token where used_at is null";
    assert_eq!(world.count(outstanding).await, 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn tokens_and_budget_outlive_an_api_that_is_killed() {
    let world = World::new(WATTLINE, Mode::Direct).await;
    world.building();
    let mut api = world.start(&["api"]);
    api.ready().await;
    let client = Client::new(world.http_port);
    let (_, used) = log_in(&client).await;
    let (access, refresh) = pair(&client.refresh(&used).await);
    let remaining = async || {
        let answer = list(&client, &access).await;
        assert_eq!(answer.status, 200, "{}", answer.text);
        answer.header("ratelimit-remaining").parse::<i64>().unwrap()
    };
    let before = remaining().await;
    api.kill();
    let api = world.start(&["api"]);
    api.ready().await;
    assert_eq!(remaining().await, before - 1);
    is_refused(&client.refresh(&used).await, "Token is blacklisted");
    pair(&client.refresh(&refresh).await);
    is_refused(&client.refresh(&refresh).await, "Token is blacklisted");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_refresh_body_is_held_to_its_rules() {
    let (_world, api, client) = served().await;
    let check = async |body: Value, status: u16| {
        let path = "/token/refresh/";
        let answer = client.send(testkit::Method::POST, path, Some(&body)).await;
        assert_eq!(answer.status, status, "{body}: {}", answer.text);
        answer.violations()
    };
    let violation = |field: &str, code: &str| vec![(field.to_owned(), code.to_owned())];
    assert_eq!(
        check(json!({}), 400).await,
        violation("/refresh", "required")
    );
    assert_eq!(
        check(json!({"refresh": 1}), 400).await,
        violation("/refresh", "not_a_string")
    );
    assert_eq!(
        check(json!({"refresh": null}), 400).await,
        violation("/refresh", "not_a_string")
    );
    assert_eq!(
        check(json!({"refresh": "x", "y": 1}), 400).await,
        violation("/y", "unknown_property")
    );
    assert_eq!(check(json!({"refresh": "x"}), 401).await, []);
    api.stop().await;
}
