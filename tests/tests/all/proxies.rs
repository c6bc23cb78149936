//! Proxies in front of the API: whose word about the client is believed.

use crate::WATTLINE;
use std::net::Ipv4Addr;
use testkit::{Mode, Running, Socket, World};

/// Failed logins that one address may have (`decisions.md`, tokens).
const FAILURES_OF_ONE_ADDRESS: usize = 20;

async fn behind(proxies: &str) -> (World, Running) {
    let mut world = World::new(WATTLINE, Mode::Direct).await;
    let name = "WATTLINE_TRUSTED_PROXIES".to_owned();
    world.settings.insert(name, proxies.to_owned());
    let api = world.start(&["api"]);
    api.ready().await;
    (world, api)
}

/// The status of a failing login over a connection from `peer`; every one with a name of its own.
async fn fail(world: &World, peer: [u8; 4], headers: &str) -> u16 {
    let port = world.http_port;
    let mut socket = Socket::connect_from(Ipv4Addr::from(peer), port)
        .await
        .unwrap();
    let name = uuid::Uuid::new_v4();
    let body = format!(r#"{{"username":"{name}","password":"wrong"}}"#);
    let answer = socket.post("/token/", headers, &body).await.unwrap();
    if answer.status == 429 {
        let wait: u64 = answer.header("retry-after").parse().unwrap();
        assert!(wait >= 1, "{answer:?}");
    }
    answer.status
}

const PROXY: [u8; 4] = [127, 0, 0, 1];
const STRANGER: [u8; 4] = [127, 0, 0, 2];

#[tokio::test(flavor = "multi_thread")]
async fn failed_logins_count_for_the_client_that_a_trusted_proxy_names() {
    let (world, _api) = behind("127.0.0.1, 10.0.0.0/8").await;
    for attempt in 0..FAILURES_OF_ONE_ADDRESS {
        // What the client itself writes in front changes with every attempt, and changes nothing.
        let headers = if attempt % 2 == 0 {
            format!("x-forwarded-for: 6.6.6.{attempt}, 198.51.100.7, 10.0.0.3\r\n")
        } else {
            format!("forwarded: for=6.6.6.{attempt}\r\nforwarded: for=\"198.51.100.7:80\"\r\n")
        };
        assert_eq!(fail(&world, PROXY, &headers).await, 401, "{attempt}");
    }
    let of = |client: &str| format!("x-forwarded-for: {client}\r\n");
    assert_eq!(fail(&world, PROXY, &of("198.51.100.7")).await, 429);
    assert_eq!(fail(&world, PROXY, &of("198.51.100.8")).await, 401);
    assert_eq!(fail(&world, PROXY, "").await, 401, "the proxy itself");
}

#[tokio::test(flavor = "multi_thread")]
async fn nobody_else_chooses_an_address_by_a_header() {
    let (world, _api) = behind("127.0.0.1").await;
    for attempt in 0..FAILURES_OF_ONE_ADDRESS {
        let headers = format!(
            "x-forwarded-for: 198.51.100.{attempt}\r\nforwarded: for=198.51.100.{attempt}\r\n"
        );
        assert_eq!(fail(&world, STRANGER, &headers).await, 401, "{attempt}");
    }
    let headers = "x-forwarded-for: 198.51.100.99\r\n";
    assert_eq!(fail(&world, STRANGER, headers).await, 429);
    assert_eq!(fail(&world, PROXY, headers).await, 401);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_network_that_is_none_ends_the_start_with_one_line() {
    let mut world = World::new(WATTLINE, Mode::Direct).await;
    let name = "WATTLINE_TRUSTED_PROXIES";
    for wrong in ["proxy.example", "10.0.0.0/33", "10.0.0.0-10.0.0.9"] {
        world.settings.insert(name.to_owned(), wrong.to_owned());
        let output = world.attempt(&["api"]);
        let told = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{told}");
        assert_eq!(told.lines().count(), 1, "{told}");
        assert!(
            told.contains("trusted_proxies") && told.contains(name),
            "{told}"
        );
    }
}
