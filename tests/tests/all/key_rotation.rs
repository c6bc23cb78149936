//! Signing keys that change while clients go on.

use crate::WATTLINE;
use crate::tokens::pair;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use testkit::{Client, Method, Mode, PASSWORD, USERNAME, World, eventually};
use tokio::task::JoinSet;

fn key_file(world: &World) -> &Path {
    Path::new(&world.settings["WATTLINE_TOKEN_KEY_FILE"])
}

async fn reads(client: &Client, access: &str) -> u16 {
    let client = client.clone().with_token(access);
    client.send(Method::GET, "/buildings/", None).await.status
}

/// Logs in at one process, then reads and refreshes at either in turn until told to stop; nothing may
/// ever be refused.
async fn go_on(clients: [Client; 2], stop: Arc<AtomicBool>, turns: Arc<AtomicUsize>) {
    let (mut access, mut refresh) = pair(&clients[0].log_in(USERNAME, PASSWORD).await);
    let mut turn = 0;
    while !stop.load(Ordering::Relaxed) {
        turn += 1;
        assert_eq!(reads(&clients[turn % 2], &access).await, 200);
        let answer = clients[(turn + 1) % 2].refresh(&refresh).await;
        (access, refresh) = pair(&answer);
        turns.fetch_add(1, Ordering::Relaxed);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_rotation_over_two_processes_logs_nobody_out() {
    const KEYS: usize = 5;
    const CLIENTS: usize = 4;
    let world = World::new(WATTLINE, Mode::Direct).await;
    world.building();
    let first = world.start(&["api"]);
    let (second, port) = world.start_another_api();
    first.ready().await;
    second.ready().await;
    let clients = [Client::new(world.http_port), Client::new(port)];
    let stop = Arc::new(AtomicBool::new(false));
    let turns = Arc::new(AtomicUsize::new(0));
    let mut tasks = JoinSet::new();
    for _ in 0..CLIENTS {
        tasks.spawn(go_on(
            clients.clone(),
            Arc::clone(&stop),
            Arc::clone(&turns),
        ));
    }
    for _ in 0..KEYS {
        let before = turns.load(Ordering::Relaxed);
        world.command(&["admin", "token", "new-key"]);
        eventually(async || {
            // What the clients do is no test of the rate limit.
            sqlx::query("delete from request_budget")
                .execute(&world.database)
                .await
                .unwrap();
            let done = turns.load(Ordering::Relaxed);
            if done > before + 3 * CLIENTS {
                Ok(())
            } else {
                Err(done)
            }
        })
        .await;
    }
    stop.store(true, Ordering::Relaxed);
    tasks.join_all().await;
    assert_eq!(
        api::token::Keys::kids(key_file(&world)).unwrap().len(),
        KEYS + 1
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_retired_key_is_worth_nothing_and_a_broken_file_changes_nothing() {
    let world = World::new(WATTLINE, Mode::Direct).await;
    world.building();
    let api = world.start(&["api"]);
    api.ready().await;
    let client = Client::new(world.http_port);
    let (access, refresh) = pair(&client.log_in(USERNAME, PASSWORD).await);
    let text = std::fs::read_to_string(key_file(&world)).unwrap();
    std::fs::write(key_file(&world), "nonsense\n").unwrap();
    eventually(async || {
        if api.log().contains("going on with the keys of before") {
            Ok(())
        } else {
            Err(api.log())
        }
    })
    .await;
    assert_eq!(reads(&client, &access).await, 200);
    std::fs::write(key_file(&world), text).unwrap();
    let old = api::token::Keys::kids(key_file(&world)).unwrap().remove(0);
    world.command(&["admin", "token", "new-key"]);
    pair(&client.refresh(&refresh).await);
    api::token::Keys::retire(key_file(&world), &old).unwrap();
    eventually(async || match reads(&client, &access).await {
        401 => Ok(()),
        other => Err(other),
    })
    .await;
    let (access, _) = pair(&client.log_in(USERNAME, PASSWORD).await);
    assert_eq!(reads(&client, &access).await, 200);
    let told = api
        .log()
        .matches("going on with the keys of before")
        .count();
    assert_eq!(told, 1, "{}", api.log());
}
