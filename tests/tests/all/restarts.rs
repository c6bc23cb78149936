//! Restarts in the middle of everything: what was answered holds, and what broke off happened whole or
//! not at all.

use crate::WATTLINE;
use crate::records::now;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;
use testkit::{
    Answer, BuildingPlan, Client, Method, Mode, PASSWORD, Running, USERNAME, World, eventually,
};
use uuid::Uuid;
use wire::topic::{MqttTopic, RecordKind};

/// How often the service is killed, and how much is done in between at least.
const KILLS: u64 = 4;
const STEPS_BETWEEN: u64 = 30;

/// What a loop has done so far; it goes on until it is told to end.
#[derive(Default)]
struct Progress {
    ended: AtomicBool,
    steps: AtomicU64,
    /// Answers to requests with a valid access token.
    answered: AtomicU64,
    /// Requests without an answer.
    broken: AtomicU64,
}

impl Progress {
    fn goes_on(&self) -> bool {
        !self.ended.load(Ordering::SeqCst)
    }

    /// An answer that is none of a failing service; `None` where it broke off or was told to wait.
    async fn note(&self, attempt: Result<Answer, reqwest::Error>) -> Option<Answer> {
        self.steps.fetch_add(1, Ordering::SeqCst);
        match attempt {
            Ok(answer) => {
                assert_ne!(answer.status, 500, "{}", answer.text);
                if answer.headers.contains_key("ratelimit-limit") {
                    self.answered.fetch_add(1, Ordering::SeqCst);
                }
                Some(answer).filter(|it| it.status != 503)
            }
            Err(_) => {
                self.broken.fetch_add(1, Ordering::SeqCst);
                tokio::time::sleep(Duration::from_millis(20)).await;
                None
            }
        }
    }
}

/// Plans one limit after the other; answers with those that were confirmed.
async fn plan_limits(client: Client, building: Uuid, progress: &Progress) -> BTreeSet<String> {
    let path = format!("/buildings/{building}/schedules/grid_limits/");
    let start = (now() / 900 + 4) * 900;
    let wish = json!({"start_timestamp": start, "end_timestamp": start + 900,
        "delivery_limit_watts": 1, "return_delivery_limit_watts": 1});
    let mut confirmed = BTreeSet::new();
    while progress.goes_on() {
        let attempt = client.attempt(Method::POST, &path, Some(&wish)).await;
        if let Some(answer) = progress.note(attempt).await {
            assert_eq!(answer.status, 201, "{}", answer.text);
            let uuid = answer.body["grid_limit_uuid"].as_str().unwrap();
            confirmed.insert(uuid.to_owned());
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    confirmed
}

/// Refreshes one token after the other. A refresh that broke off may have used its token: then, and only
/// then, is it blacklisted, and the user logs in again.
async fn refresh_tokens(client: Client, progress: &Progress) {
    let mut token = String::new();
    let mut doubtful = true;
    while progress.goes_on() {
        let attempt = if token.is_empty() {
            let login = json!({"username": USERNAME, "password": PASSWORD});
            client.attempt(Method::POST, "/token/", Some(&login)).await
        } else {
            let body = json!({"refresh": token});
            client
                .attempt(Method::POST, "/token/refresh/", Some(&body))
                .await
        };
        let Some(answer) = progress.note(attempt).await else {
            doubtful = true;
            continue;
        };
        match answer.status {
            200 => {
                token = answer.body["refresh"].as_str().unwrap().to_owned();
                doubtful = false;
            }
            401 => {
                assert!(doubtful, "{}", answer.text);
                assert_eq!(answer.body["detail"], "Token is blacklisted");
                token.clear();
            }
            other => panic!("{other}: {}", answer.text),
        }
        tokio::time::sleep(Duration::from_millis(30)).await;
    }
}

/// A counter that counts one up with each reading; answers with how many were sent.
async fn send_readings(
    world: &World,
    plan: &BuildingPlan,
    meter: Uuid,
    progress: &Progress,
) -> i64 {
    let controller = world.controller();
    let topic = MqttTopic::format(RecordKind::Readings, plan.uuid);
    let begin = now() - 10_000;
    let mut sent = 0;
    while progress.goes_on() {
        let payload = json!({"time": begin + sent,
            "readings": [{"sensor_uuid": meter, "meter_reading": sent}]});
        controller.publish(&topic, payload.to_string()).await;
        sent += 1;
        progress.steps.fetch_add(1, Ordering::SeqCst);
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    controller.confirmed().await;
    sent
}

/// Kills every role at once, again and again, each time after everybody has done something.
async fn kill_and_restart(world: &World, mut serve: Running, all: &[&Progress; 3]) {
    for _ in 0..KILLS {
        let before = all.map(|it| it.steps.load(Ordering::SeqCst));
        eventually(async || {
            let after = all.map(|it| it.steps.load(Ordering::SeqCst));
            let mut done = before.iter().zip(&after);
            if done.all(|(before, after)| after - before >= STEPS_BETWEEN) {
                Ok(())
            } else {
                Err((before, after))
            }
        })
        .await;
        serve.kill();
        serve = world.start(&["serve"]);
        serve.ready().await;
    }
    for progress in all {
        progress.ended.store(true, Ordering::SeqCst);
    }
    drop(serve);
}

#[tokio::test(flavor = "multi_thread")]
async fn restarts_in_the_middle_of_everything_keep_what_was_answered() {
    let mut world = World::new(WATTLINE, Mode::Direct).await;
    // So many requests that none is refused.
    let meter = Uuid::new_v4();
    let mut plans: Vec<BuildingPlan> = (0..20).map(|_| BuildingPlan::new()).collect();
    plans[0].sensor_hubs = json!([{"uuid": Uuid::new_v4(), "name": "Gas", "kind": "gas_meter",
        "sensors": [{"sensor_uuid": meter, "name": "Gas", "kind": "gas_volume"}]}]);
    world.apply(&plans);
    world
        .settings
        .insert("WATTLINE_LOG".to_owned(), "warn".to_owned());
    let plan = &plans[0];
    let (another, port) = world.start_another_api();
    another.ready().await;
    let client = Client::new(port).login(USERNAME, PASSWORD).await;
    let token = client.access().to_owned();
    let client = Client::new(world.http_port).with_token(&token);

    // The broker keeps readings for a subscriber that it knows.
    let serve = world.serve().await;
    let (limits, refreshes, readings) = <(Progress, Progress, Progress)>::default();
    let all = [&limits, &refreshes, &readings];
    let (confirmed, (), sent, ()) = tokio::join!(
        plan_limits(client, plan.uuid, &limits),
        refresh_tokens(Client::new(world.http_port), &refreshes),
        send_readings(&world, plan, meter, &readings),
        kill_and_restart(&world, serve, &all),
    );

    let _serve = world.serve().await;
    let registers = "select count(*) from register_reading";
    eventually(async || match world.count(registers).await {
        count if count == sent => Ok(()),
        other => Err((other, sent)),
    })
    .await;
    let stored = world.rows("select grid_limit_uuid from grid_limit").await;
    let text = |row: &Value| row["grid_limit_uuid"].as_str().unwrap().to_owned();
    let stored: BTreeSet<String> = stored.iter().map(text).collect();
    assert!(stored.is_superset(&confirmed), "a confirmed limit is gone");
    let broken = limits.broken.load(Ordering::SeqCst);
    assert!(stored.len() as u64 <= confirmed.len() as u64 + broken);
    let spent = world
        .count("select spent from request_budget")
        .await
        .unsigned_abs();
    let answered = limits.answered.load(Ordering::SeqCst);
    assert!(
        (answered..=answered + broken).contains(&spent),
        "{answered} {broken} {spent}"
    );
    assert!(broken > 0, "the service was killed while it was asked");
}
