//! Tens of thousands of inputs made from good ones, over MQTT and over HTTP, from a seed.
//!
//! `WATTLINE_HOSTILE_INPUTS` is their number, half of them each way; `WATTLINE_FUZZ_SEED` is another seed.

#[path = "inputs/messages.rs"]
mod messages;
#[path = "inputs/requests.rs"]
mod requests;

use crate::WATTLINE;
use messages::Messages;
use rand::SeedableRng as _;
use rand_chacha::ChaCha8Rng;
use requests::Requests;
use std::collections::BTreeMap;
use std::net::Ipv4Addr;
use std::sync::Arc;
use std::time::Duration;
use testkit::{
    BuildingPlan, Client, Mode, PASSWORD, Running, Socket, USERNAME, World, eventually_within,
};
use tokio::task::JoinSet;
use uuid::Uuid;

/// So many in CI: some twenty seconds on two slow cores.
const INPUTS: usize = 4_000;
/// Enough that no budget of requests ends, and no building's share of messages is large.
const BUILDINGS: usize = 120;
/// Messages that are sent without looking.
const ROUND: usize = 1_000;
/// Connections that send requests.
const CONNECTIONS: usize = 8;
/// How much more memory than after the first part, in KiB: a password more may be checked at once (19 MiB that are
/// kept), and allocators keep some. A kilobyte left by each of 100,000 inputs would be three times as much.
const GROWTH_KIB: u64 = 32 * 1024;
/// The first part is so many inputs at least: until then what is kept for good is being allocated.
const FIRST: usize = 1_000;

#[expect(
    clippy::disallowed_methods,
    reason = "a test has no settings; these repeat or explore"
)]
fn number(variable: &str, otherwise: usize) -> usize {
    std::env::var(variable).map_or(otherwise, |it| it.parse().unwrap())
}

fn random(seed_offset: usize) -> ChaCha8Rng {
    let seed = number("WATTLINE_FUZZ_SEED", 20_231_114) + seed_offset;
    ChaCha8Rng::seed_from_u64(u64::try_from(seed).unwrap())
}

async fn site() -> (World, Running, Vec<Uuid>) {
    let world = World::new(WATTLINE, Mode::Direct).await;
    let plans: Vec<BuildingPlan> = (0..BUILDINGS).map(|_| BuildingPlan::new()).collect();
    world.apply(&plans);
    let service = world.serve().await;
    (world, service, plans.iter().map(|it| it.uuid).collect())
}

/// After how many inputs memory is looked at for the first time.
fn first(inputs: usize) -> usize {
    (inputs / 10).max(FIRST.min(inputs / 2))
}

/// The metrics, once so many messages have come in and none is on the way.
async fn received(service: &Running, messages: usize) -> BTreeMap<String, f64> {
    eventually_within(Duration::from_secs(600), async || {
        let metrics = service.metrics().await;
        let received = metrics["wattline_bridge_received_messages_total"];
        let waiting = metrics["wattline_bridge_in_flight_messages"];
        // Deliveries are counted: after a reconnect some come again.
        if received >= count(messages) && waiting == 0.0 {
            Ok(metrics)
        } else {
            Err((received, waiting))
        }
    })
    .await
}

#[expect(clippy::print_stdout, reason = "a figure for whoever runs it")]
fn flat(service: &Running, early_kib: u64) {
    let late = service.memory_kib();
    println!("memory: {early_kib} KiB after the first part, {late} KiB at the end");
    assert!(
        late <= early_kib + GROWTH_KIB,
        "{late} KiB after {early_kib} KiB"
    );
    let log = service.log();
    assert!(!log.contains("ERROR") && !log.contains("panicked"), "{log}");
}

#[tokio::test(flavor = "multi_thread")]
async fn whatever_comes_over_mqtt_is_stored_or_refused_and_counted() {
    let inputs = number("WATTLINE_HOSTILE_INPUTS", INPUTS) / 2;
    let (world, service, buildings) = site().await;
    let mut messages = Messages::new(random(0), &buildings);
    let controller = world.controller();
    let mut early = 0;
    let mut metrics = BTreeMap::new();
    for done in 1..=inputs {
        let (topic, payload) = messages.next();
        controller.publish(&topic, payload).await;
        // No more wait than are in flight: what a flood costs is another matter (docs/decisions.md).
        if done % ROUND == 0 || done == inputs {
            controller.confirmed().await;
            metrics = received(&service, done).await;
        }
        if done == first(inputs) {
            early = service.memory_kib();
        }
    }
    let sum = |name: &str| -> f64 {
        let series = metrics.iter().filter(|(series, _)| {
            series
                .strip_prefix(name)
                .is_some_and(|rest| rest.is_empty() || rest.starts_with('{'))
        });
        series.map(|(_, value)| value).sum()
    };
    let [received, forwarded, dead, abandoned] =
        ["received", "forwarded", "dead_lettered", "abandoned"]
            .map(|it| sum(&format!("wattline_bridge_{it}_messages_total")));
    assert_eq!(
        received,
        forwarded + dead + abandoned,
        "bridge: {metrics:?}"
    );
    let [consumed, stored, duplicate, refused] =
        ["consumed", "stored", "duplicate", "dead_lettered"]
            .map(|it| sum(&format!("wattline_aggregator_{it}_messages_total")));
    assert_eq!(
        consumed,
        stored + duplicate + refused,
        "aggregator: {metrics:?}"
    );
    assert_eq!(consumed, forwarded, "direct mode");
    let kept = world.count("select count(*) from dead_letter").await;
    println!(
        "mqtt: {inputs} sent, {received} received, {stored} stored, {duplicate} duplicate, {} refused ({kept} kept)",
        dead + refused
    );
    if abandoned == 0.0 {
        assert_eq!(
            i64::try_from(inputs).unwrap(),
            kept + whole(stored + duplicate)
        );
    }
    service.ready().await;
    flat(&service, early);
}

#[tokio::test(flavor = "multi_thread")]
async fn whatever_comes_over_http_is_answered_and_never_with_a_failure() {
    let inputs = number("WATTLINE_HOSTILE_INPUTS", INPUTS) / 2;
    let (world, service, buildings) = site().await;
    let pair = Client::new(world.http_port)
        .log_in(USERNAME, PASSWORD)
        .await
        .body;
    let requests = Arc::new(Requests::new(&pair, &buildings));
    let mut early = 0;
    let mut statuses: BTreeMap<u16, usize> = BTreeMap::new();
    for (part, share) in [first(inputs), inputs - first(inputs)]
        .into_iter()
        .enumerate()
    {
        let mut senders = JoinSet::new();
        for sender in 0..CONNECTIONS {
            let random = random(1 + part * CONNECTIONS + sender);
            let requests = Arc::clone(&requests);
            senders.spawn(send(world.http_port, share / CONNECTIONS, random, requests));
        }
        for (status, times) in senders.join_all().await.into_iter().flatten() {
            *statuses.entry(status).or_default() += times;
        }
        if part == 0 {
            early = service.memory_kib();
        }
    }
    println!("http: answers by status (0: closed without one): {statuses:?}");
    assert!(statuses.keys().all(|it| *it < 500), "{statuses:?}");
    for status in [200, 400, 401, 404] {
        assert!(statuses.contains_key(&status), "{status}: {statuses:?}");
    }
    service.ready().await;
    flat(&service, early);
}

/// Sends so many requests one after the other; a new connection for whatever was no HTTP.
async fn send(
    port: u16,
    inputs: usize,
    mut random: ChaCha8Rng,
    requests: Arc<Requests>,
) -> BTreeMap<u16, usize> {
    let mut statuses: BTreeMap<u16, usize> = BTreeMap::new();
    for number in 0..inputs {
        let (bytes, whole) = requests.next(&mut random);
        // One address has only so many ports, and each is kept for a minute.
        let [.., high, low] = number.to_be_bytes();
        let source = Ipv4Addr::new(127, 1, high, low | 1);
        let mut socket = Socket::connect_from(source, port).await.unwrap();
        let sent = socket.send_bytes(&bytes).await.is_ok();
        // What ends in the middle of a request is waited for by the service; nobody else waits.
        let patience = Duration::from_millis(if whole && sent { 20_000 } else { 30 });
        let answer = tokio::time::timeout(patience, socket.answer()).await;
        let status = match answer {
            Ok(Ok(answer)) => answer.status,
            Ok(Err(_)) => 0,
            Err(_) => {
                assert!(!whole, "no answer to {}", String::from_utf8_lossy(&bytes));
                0
            }
        };
        assert!(
            status < 500,
            "{status} to {}",
            String::from_utf8_lossy(&bytes)
        );
        *statuses.entry(status).or_default() += 1;
    }
    statuses
}

#[expect(clippy::cast_precision_loss, reason = "far below 2^53")]
fn count(number: usize) -> f64 {
    number as f64
}

#[expect(clippy::cast_possible_truncation, reason = "a count, far below 2^53")]
fn whole(number: f64) -> i64 {
    number as i64
}
