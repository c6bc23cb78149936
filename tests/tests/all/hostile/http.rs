//! Over HTTP: slow ones, large ones, many at once.

use super::{Before, others_are_answered};
use crate::WATTLINE;
use std::net::Ipv4Addr;
use std::time::Duration;
use testkit::{Client, Mode, Running, Socket, World, eventually};
use tokio::task::JoinSet;
use tokio::time::sleep;

/// The attackers' address.
const ATTACKER: Ipv4Addr = Ipv4Addr::new(127, 0, 0, 66);

pub(super) struct Attacked {
    pub(super) api: Running,
    pub(super) world: World,
    pub(super) client: Client,
    before: Before,
}

impl Attacked {
    /// An api that has answered some requests, so that what it keeps is there.
    pub(super) async fn start() -> Self {
        let world = World::new(WATTLINE, Mode::Direct).await;
        world.building();
        let api = world.start(&["api"]);
        api.ready().await;
        let client = world.client().await;
        // As many passwords at once as are checked at once, each in memory that is kept.
        let wrong = |name| client.log_in(name, "wrong");
        tokio::join!(wrong("x"), wrong("y"), wrong("z"));
        others_are_answered(&client, 50).await;
        Self {
            before: Before::of(&api),
            world,
            api,
            client,
        }
    }

    pub(super) async fn connect(&self) -> Socket {
        Socket::connect_from(ATTACKER, self.world.http_port)
            .await
            .unwrap()
    }

    /// Once nobody attacks any more.
    pub(super) async fn is_unharmed(&self) {
        eventually(
            async || match self.api.metric("wattline_api_connections").await {
                // The client's own, which it keeps.
                few if few <= 2.0 => Ok(()),
                more => Err(more),
            },
        )
        .await;
        others_are_answered(&self.client, 20).await;
        self.before.is_still_so(&self.api).await;
    }
}

/// Sends a byte of `text` now and then, for ever.
async fn drip(mut socket: Socket, start: String) {
    if socket.send(&start).await.is_err() {
        return;
    }
    while socket.send("x").await.is_ok() {
        sleep(Duration::from_millis(250)).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn slow_clients_by_the_hundred_slow_nobody_else_down() {
    let attacked = Attacked::start().await;
    let mut slow = JoinSet::new();
    for number in 0..400 {
        let socket = attacked.connect().await;
        let start = match number % 4 {
            // A header's value that goes on and on, a head that has not begun, a body, a chunk.
            0 => "GET /public-api/buildings/ HTTP/1.1\r\nhost: a\r\nx-slow: ",
            1 => "G",
            2 => "POST /public-api/token/ HTTP/1.1\r\nhost: a\r\ncontent-length: 60000\r\n\r\n",
            _ => {
                "POST /public-api/token/ HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\nffff\r\n"
            }
        };
        slow.spawn(drip(socket, start.to_owned()));
    }
    eventually(
        async || match attacked.api.metric("wattline_api_connections").await {
            all if all >= 200.0 => Ok(()),
            fewer => Err(fewer),
        },
    )
    .await;
    others_are_answered(&attacked.client, 40).await;
    slow.shutdown().await;
    attacked.is_unharmed().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_thousand_requests_in_one_piece_are_answered_one_after_the_other() {
    let attacked = Attacked::start().await;
    let requests = "GET /public-api/buildings/ HTTP/1.1\r\nhost: a\r\n\r\n".repeat(1_000);
    for _ in 0..5 {
        let mut socket = attacked.connect().await;
        socket.send(&requests).await.unwrap();
        for _ in 0..1_000 {
            assert_eq!(socket.answer().await.unwrap().status, 401);
        }
    }
    attacked.is_unharmed().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn many_identities_in_a_query_and_deep_or_long_bodies_cost_no_more_than_a_refusal() {
    let attacked = Attacked::start().await;
    let building = attacked.client.get("/buildings/").await.1[0]["uuid"].clone();
    let building = building.as_str().unwrap();
    let bearer = format!("authorization: Bearer {}\r\n", attacked.client.access());
    let path = format!("/buildings/{building}/electricity/sensors/actual/");
    let ids = vec!["6f1f0a0e-2c7c-4c67-9e0b-3a5d2a0f9b11"; 1_500].join(",");
    let each = "sensor_uuid=6f1f0a0e-2c7c-4c67-9e0b-3a5d2a0f9b11&".repeat(1_000);
    for (query, expected) in [
        (format!("sensor_uuid={ids}"), 404),
        (each, 404),
        ("&".repeat(50_000), 400),
        ("sensor_uuid=&".repeat(4_000), 400),
        ("%00=%ff&".repeat(6_000), 400),
        (",".repeat(50_000), 400),
    ] {
        for _ in 0..5 {
            let mut socket = attacked.connect().await;
            let answer = socket
                .get(&format!("{path}?{query}"), &bearer)
                .await
                .unwrap();
            assert_eq!(answer.status, expected, "{answer:?}");
        }
    }
    let path = format!("/buildings/{building}/actions/");
    let nested = |open: &str, levels| open.repeat(levels);
    let many = format!("{{{}\"a\":1}}", "\"a\":1,".repeat(9_000));
    let unknown: String = (0..5_000).map(|it| format!("\"p{it}\":0,")).collect();
    let list = format!(r#"{{"ev_sockets_update": [{}0]}}"#, "0,".repeat(30_000));
    for body in [
        nested("[", 60_000),
        nested("{\"a\":", 10_000),
        many,
        format!("{{{unknown}\"p\":0}}"),
        list,
        "9".repeat(60_000),
        format!("\"{}\"", "\\u0000".repeat(9_000)),
    ] {
        for _ in 0..3 {
            let mut socket = attacked.connect().await;
            let answer = socket.post(&path, &bearer, &body).await.unwrap();
            assert_eq!(answer.status, 400, "{answer:?}");
            assert!(answer.text.len() < 2_000_000, "{}", answer.text.len());
        }
    }
    attacked.is_unharmed().await;
}
