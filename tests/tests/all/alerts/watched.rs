//! Prometheus with the scaled rules over real processes, and one target that is made up.

use super::rules;
use embedded::{Prometheus, PrometheusOptions};
use serde_json::Value;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use tempfile::TempDir;
use testkit::{Running, eventually_within};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;
use tokio::task::JoinSet;

/// How long an alert may take, in the scaled time.
const PATIENCE: Duration = Duration::from_secs(40);

/// A Prometheus that looks four times a second.
pub(super) struct Watched {
    prometheus: Prometheus,
    _folder: TempDir,
}

impl Watched {
    pub(super) async fn new(processes: &[&Running], made_up: u16) -> Self {
        let folder = embedded::temporary_folder().unwrap();
        let rules = folder.path().join("alerts.yml");
        std::fs::write(&rules, rules::scaled()).unwrap();
        let ports = processes.iter().map(|it| it.operations_port());
        let targets: Vec<String> = ports
            .chain([made_up])
            .map(|port| format!("\"127.0.0.1:{port}\""))
            .collect();
        let configuration = format!(
            "global: {{scrape_interval: 250ms, scrape_timeout: 250ms, evaluation_interval: 250ms}}\n\
             rule_files: [\"{}\"]\n\
             scrape_configs: [{{job_name: wattline, static_configs: [{{targets: [{}]}}]}}]\n",
            rules.display(),
            targets.join(", ")
        );
        let options = PrometheusOptions {
            folder: folder.path().join("prometheus"),
            configuration,
        };
        let started = tokio::task::spawn_blocking(move || Prometheus::start(&options)).await;
        Self {
            prometheus: started.unwrap().unwrap(),
            _folder: folder,
        }
    }

    /// The alerts that fire now.
    pub(super) async fn firing(&self) -> BTreeSet<String> {
        let url = format!("{}/api/v1/alerts", self.prometheus.url());
        let answer: Value = reqwest::get(url).await.unwrap().json().await.unwrap();
        let alerts = answer["data"]["alerts"].as_array().unwrap();
        alerts
            .iter()
            .filter(|it| it["state"] == "firing")
            .map(|it| it["labels"]["alertname"].as_str().unwrap().to_owned())
            .collect()
    }

    /// Waits until each of these has fired, whatever else fires meanwhile.
    pub(super) async fn all_fire(&self, alerts: &[&str]) {
        let mut seen = BTreeSet::new();
        eventually_within(PATIENCE, async || {
            seen.extend(self.firing().await);
            let missing = alerts.iter().filter(|it| !seen.contains(**it));
            let missing: Vec<_> = missing.collect();
            if missing.is_empty() {
                Ok(())
            } else {
                Err(format!("{missing:?} have not fired; {seen:?} have"))
            }
        })
        .await;
    }
}

/// A target whose counters balance until they are told not to: no process of ours does that.
pub(super) struct MadeUp {
    pub(super) port: u16,
    lost: Arc<AtomicU64>,
    _tasks: JoinSet<()>,
}

impl MadeUp {
    pub(super) async fn new() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let lost = Arc::new(AtomicU64::new(0));
        let mut tasks = JoinSet::new();
        let told = Arc::clone(&lost);
        tasks.spawn(async move {
            while let Ok((mut socket, _)) = listener.accept().await {
                let mut request = [0; 4_096];
                if socket.read(&mut request).await.is_ok() {
                    let answer = scrape(told.load(Ordering::SeqCst));
                    // Whoever asked may be gone; it asks again.
                    drop(socket.write_all(answer.as_bytes()).await);
                }
            }
        });
        Self {
            port,
            lost,
            _tasks: tasks,
        }
    }

    /// Loses so many messages from now on, cannot read as many control states, and drops no raw records.
    pub(super) fn lose(&self, messages: u64) {
        self.lost.store(messages, Ordering::SeqCst);
    }
}

fn scrape(lost: u64) -> String {
    let body = format!(
        "wattline_bridge_received_messages_total {}\n\
         wattline_bridge_forwarded_messages_total 6\n\
         wattline_bridge_dead_lettered_messages_total{{reason=\"schema\"}} 2\n\
         wattline_bridge_dead_lettered_messages_total{{reason=\"too_old\"}} 0\n\
         wattline_bridge_abandoned_messages_total 1\n\
         wattline_bridge_in_flight_messages 1\n\
         wattline_aggregator_retention_overdue_seconds {}\n\
         wattline_control_unreadable_states {lost}\n",
        10 + lost,
        100_000 * lost
    );
    let length = body.len();
    format!(
        "HTTP/1.1 200 OK\r\nContent-Type: text/plain; version=0.0.4\r\nContent-Length: {length}\r\n\
         Connection: close\r\n\r\n{body}"
    )
}
