//! Slow clients, hostile ones, and many at once.

use crate::WATTLINE;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use std::net::Ipv4Addr;
use std::time::{Duration, Instant};
use testkit::{Answer, Mode, PASSWORD, Running, Socket, USERNAME, World, eventually};
use tokio::time::timeout;

/// Longer than any bound of the api on a connection, on a loaded machine.
const PATIENCE: Duration = Duration::from_secs(90);

async fn world_with_api() -> (World, Running) {
    let world = World::new(WATTLINE, Mode::Direct).await;
    world.building();
    let api = world.start(&["api"]);
    api.ready().await;
    (world, api)
}

/// A whole answer that needs no database.
async fn answered(socket: &mut Socket) {
    let answer = socket.get("/buildings/", "").await.unwrap();
    assert_eq!(
        (answer.status, answer.code()),
        (401, "not_authenticated"),
        "{answer:?}"
    );
}

async fn connections(api: &Running, expected: f64) {
    eventually(
        async || match api.metric("wattline_api_connections").await {
            count if count == expected => Ok(()),
            other => Err(other),
        },
    )
    .await;
}

fn login_head(length: usize, headers: &str) -> String {
    format!(
        "POST /public-api/token/ HTTP/1.1\r\nhost: a\r\ncontent-length: {length}\r\n{headers}\r\n"
    )
}

#[tokio::test(flavor = "multi_thread")]
async fn who_sends_no_whole_head_in_time_is_let_go_and_so_is_who_sends_nothing_more() {
    let (world, api) = world_with_api().await;
    let port = world.http_port;
    let mut silent = Socket::connect(port).await.unwrap();
    let mut idle = Socket::connect(port).await.unwrap();
    answered(&mut idle).await;
    let mut slow = Socket::connect(port).await.unwrap();
    slow.send("GET /public-api/buildings/ HTTP/1.1\r\nhost: a\r\n")
        .await
        .unwrap();
    connections(&api, 3.0).await;
    let begun = Instant::now();
    let drip = async {
        // A header a second: every one of them is progress, and none of them helps.
        while slow.send("x-more: 1\r\n").await.is_ok() {
            tokio::time::sleep(Duration::from_secs(1)).await;
        }
    };
    let all = async { tokio::join!(drip, silent.ended(), idle.ended()) };
    timeout(PATIENCE, all).await.unwrap();
    assert!(
        begun.elapsed() > Duration::from_secs(20),
        "nobody is hurried: {:?}",
        begun.elapsed()
    );
    connections(&api, 0.0).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_body_that_does_not_come_in_time_is_408() {
    let (world, _api) = world_with_api().await;
    let mut socket = Socket::connect(world.http_port).await.unwrap();
    socket.send(&login_head(100, "")).await.unwrap();
    socket.send("{\"username\":").await.unwrap();
    let answer = timeout(PATIENCE, socket.answer()).await.unwrap().unwrap();
    assert_eq!((answer.status, answer.code()), (408, "request_timeout"));
    assert_eq!(answer.header("content-type"), "application/problem+json");
    timeout(PATIENCE, socket.ended()).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn who_never_reads_the_answers_is_let_go() {
    let (world, api) = world_with_api().await;
    let mut socket = Socket::connect_narrow(world.http_port).await.unwrap();
    let requests = "GET /public-api/buildings/ HTTP/1.1\r\nhost: a\r\n\r\n".repeat(100);
    let flood = async { while socket.send(&requests).await.is_ok() {} };
    timeout(PATIENCE, flood).await.unwrap();
    connections(&api, 0.0).await;
    let log = api.log();
    assert!(!log.contains("ERROR") && !log.contains("panicked"), "{log}");
}

#[tokio::test(flavor = "multi_thread")]
async fn five_hundred_idle_connections_do_not_keep_others_from_answers() {
    let (world, api) = world_with_api().await;
    let mut idle = Vec::new();
    for _ in 0..500 {
        idle.push(Socket::connect(world.http_port).await.unwrap());
    }
    connections(&api, 500.0).await;
    for _ in 0..50 {
        let mut socket = Socket::connect(world.http_port).await.unwrap();
        answered(&mut socket).await;
    }
    let client = world.client().await;
    assert_eq!(client.get("/buildings/").await.0, 200);
    answered(&mut idle[250]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_flood_of_connections_from_one_address_leaves_the_others_served() {
    // The test itself holds more than a thousand; what a shell gives may be less.
    let Rlimit { maximum, .. } = getrlimit(Resource::Nofile);
    let all = Rlimit {
        current: maximum,
        maximum,
    };
    setrlimit(Resource::Nofile, all).unwrap();

    let (world, api) = world_with_api().await;
    let attacker = Ipv4Addr::new(127, 0, 0, 2);
    let attack = async || {
        Socket::connect_from(attacker, world.http_port)
            .await
            .unwrap()
    };
    let mut flood = Vec::new();
    eventually(async || {
        for _ in 0..600 {
            flood.push(attack().await);
        }
        let refused = "wattline_api_refused_connections_total";
        match api.metric(refused).await {
            count if count > 0.0 => Ok(()),
            other => Err(other),
        }
    })
    .await;
    assert!(api.metric("wattline_api_connections").await <= 1_024.0);
    let mut other = Socket::connect(world.http_port).await.unwrap();
    answered(&mut other).await;

    drop(flood);
    eventually(async || attack().await.get("/buildings/", "").await).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_not_http_is_refused_and_costs_its_connection_only() {
    let (world, _api) = world_with_api().await;
    let send = async |text: String| -> Answer {
        let mut socket = Socket::connect(world.http_port).await.unwrap();
        socket.send(&text).await.unwrap();
        let answer = socket.answer().await.unwrap();
        socket.ended().await;
        answer
    };
    assert_eq!(
        send("no request at all\r\n\r\n".to_owned()).await.status,
        400
    );
    let long = "x".repeat(200_000);
    let head = format!("GET / HTTP/1.1\r\nhost: a\r\nx-long: {long}\r\n\r\n");
    assert_eq!(send(head).await.status, 431);
    let head = format!("GET / HTTP/1.1\r\n{}\r\n", "x-many: 1\r\n".repeat(501));
    assert_eq!(send(head).await.status, 431);
    let mut socket = Socket::connect(world.http_port).await.unwrap();
    answered(&mut socket).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_in_flight_is_answered_after_the_process_was_told_to_stop() {
    let (world, mut api) = world_with_api().await;
    let mut idle = Socket::connect(world.http_port).await.unwrap();
    answered(&mut idle).await;
    let body = format!(r#"{{"username":"{USERNAME}","password":"{PASSWORD}"}}"#);
    let mut socket = Socket::connect(world.http_port).await.unwrap();
    socket
        .send(&login_head(body.len(), "expect: 100-continue\r\n"))
        .await
        .unwrap();
    assert_eq!(
        socket.answer().await.unwrap().status,
        100,
        "it is in flight"
    );
    api.signal("TERM");
    timeout(PATIENCE, idle.ended()).await.unwrap();
    socket.send(&body).await.unwrap();
    let answer = socket.answer().await.unwrap();
    assert_eq!(answer.status, 200, "{answer:?}");
    socket.ended().await;
    assert!(api.wait(PATIENCE).success());
}
