use super::*;
use crate::metrics::Counter;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use tokio::task::JoinSet;

/// An operations server on a port of its own.
struct Running {
    address: SocketAddr,
    metrics: Metrics,
    health: Health,
    shutdown: Shutdown,
    tasks: JoinSet<Result<(), io::Error>>,
}

async fn start() -> Running {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let (metrics, health, shutdown) = (Metrics::new(), Health::new(), Shutdown::new());
    let mut tasks = JoinSet::new();
    tasks.spawn(serve_operations(
        listener,
        metrics.clone(),
        health.clone(),
        shutdown.clone(),
    ));
    Running {
        address,
        metrics,
        health,
        shutdown,
        tasks,
    }
}

impl Running {
    /// The whole answer to a GET, head and body.
    async fn get(&self, path: &str) -> String {
        let (address, path) = (self.address, path.to_owned());
        let mut blocking = JoinSet::new();
        blocking.spawn_blocking(move || {
            let mut stream = TcpStream::connect(address).unwrap();
            write!(
                stream,
                "GET {path} HTTP/1.1\r\nhost: ops\r\nconnection: close\r\n\r\n"
            )
            .unwrap();
            let mut answer = String::new();
            stream.read_to_string(&mut answer).unwrap();
            answer
        });
        blocking.join_next().await.unwrap().unwrap()
    }
}

fn check(answer: &str, status: &str, body: &str) {
    assert!(
        answer.starts_with(&format!("HTTP/1.1 {status}")),
        "{answer}"
    );
    assert!(answer.ends_with(&format!("\r\n\r\n{body}")), "{answer}");
}

#[tokio::test]
async fn readiness_turns_to_503_with_its_cause_and_back() {
    let running = start().await;
    let kafka = running.health.condition("kafka");
    let starting = r#"{"ready":false,"conditions":{"kafka":"starting"}}"#;
    check(&running.get("/health/ready").await, "503", starting);
    kafka.ready();
    let good = r#"{"ready":true,"conditions":{"kafka":"ready"}}"#;
    check(&running.get("/health/ready").await, "200", good);
    kafka.not_ready("no broker answers");
    let away = r#"{"ready":false,"conditions":{"kafka":"no broker answers"}}"#;
    check(&running.get("/health/ready").await, "503", away);
    check(&running.get("/health/live").await, "200", "");
    kafka.ready();
    check(&running.get("/health/ready").await, "200", good);
}

#[tokio::test]
async fn a_scrape_shows_the_metrics_and_whether_the_process_is_ready() {
    let running = start().await;
    let kafka = running.health.condition("kafka");
    running
        .metrics
        .update(|update| update.add(Counter::BridgeReceivedMessages, 4));
    let scrape = running.get("/metrics").await;
    assert!(scrape.starts_with("HTTP/1.1 200"), "{scrape}");
    assert!(scrape.contains("content-type: text/plain; version=0.0.4"));
    assert!(scrape.contains("\nwattline_bridge_received_messages_total 4\n"));
    assert!(scrape.contains("\nwattline_ready 0\n"), "{scrape}");
    kafka.ready();
    let scrape = running.get("/metrics").await;
    assert!(scrape.contains("\nwattline_ready 1\n"), "{scrape}");
}

#[tokio::test]
async fn the_server_ends_when_the_stop_is_wanted() {
    let mut running = start().await;
    check(&running.get("/health/live").await, "200", "");
    running.shutdown.trigger();
    running.tasks.join_next().await.unwrap().unwrap().unwrap();
}
