//! From publish to readable: records whose appearance over HTTP is watched.

use crate::batch::SEED;
use crate::servers::{PASSWORD, Site, USERNAME};
use benches::Outcome;
use benches::figures::percentile;
use domain::time::Timestamp;
use ops::clock::Clock;
use serde::Serialize;
use simulator::Fleet;
use std::time::{Duration, Instant};
use testkit::{Client, Controller};
use tokio::task::JoinSet;
use uuid::Uuid;

/// Buildings that probes are sent for, one probe at a time each.
const PROBED: usize = 8;
/// Pause between two looks for a probe: how exact a latency is.
const LOOK: Duration = Duration::from_millis(10);
/// Longest wait for a probe.
const PATIENCE: Duration = Duration::from_secs(30);
/// Pauses between two probes of a building: different ones, so that probes keep no step with batches.
const PAUSES_MS: [u64; 7] = [130, 310, 170, 290, 110, 230, 190];
const SECONDS_PER_MINUTE: u64 = 60;

/// How long a record took from its publication until a read over HTTP showed it.
#[derive(Debug, Serialize)]
pub(crate) struct Latency {
    pub(crate) probes: usize,
    /// Probes that no read has shown.
    pub(crate) never_readable: usize,
    pub(crate) p50_s: f64,
    pub(crate) p95_s: f64,
    pub(crate) p99_s: f64,
    pub(crate) max_s: f64,
}

/// The buildings that probes are sent for: others than those under load.
pub(crate) fn buildings() -> Fleet {
    Fleet::new(SEED + 1, PROBED)
}

/// Waits until the end of a minute, when its buckets are folded, lies in the middle of a run that begins
/// now; a run of a minute has one anyway.
pub(crate) async fn wait_for_half_a_minute(seconds: u64) {
    if seconds >= SECONDS_PER_MINUTE {
        return;
    }
    let now = Timestamp::from_micros(Clock::system().now_micros());
    let second = now.seconds().unsigned_abs() % SECONDS_PER_MINUTE;
    let begin = SECONDS_PER_MINUTE - seconds / 2;
    let wait = (begin + SECONDS_PER_MINUTE - second) % SECONDS_PER_MINUTE;
    tokio::time::sleep(Duration::from_secs(wait)).await;
}

/// Sends probes for so long, and watches for each.
pub(crate) async fn probe(site: &Site, seconds: u64) -> Outcome<Latency> {
    let (_, port) = site
        .setting("WATTLINE_HTTP_LISTEN")?
        .rsplit_once(':')
        .ok_or("an address has a port")?;
    let client = Client::new(port.parse()?).login(USERNAME, PASSWORD).await;
    let until = Instant::now() + Duration::from_secs(seconds);
    let mut probers = JoinSet::new();
    for (number, building) in buildings().buildings().iter().enumerate() {
        let prober = Prober {
            controller: Controller::connect(site.mosquitto.port()),
            client: client.clone(),
            building: building.uuid,
            number,
        };
        probers.spawn(prober.probe_until(until));
    }
    let seen: Vec<Option<f64>> = probers.join_all().await.into_iter().flatten().collect();
    Ok(Latency::of(&seen))
}

struct Prober {
    controller: Controller,
    client: Client,
    building: Uuid,
    number: usize,
}

impl Prober {
    /// Seconds that each probe took; `None` for one that never came.
    async fn probe_until(self, until: Instant) -> Vec<Option<f64>> {
        let mut seen = Vec::new();
        // A power that no other probe of the building has.
        let mut power_w = 0;
        while Instant::now() < until {
            power_w += 1;
            let micros = Clock::system().now_micros();
            let begun = Instant::now();
            let payload = format!(
                r#"{{"time":{}.{:06},"main_meter":{{"status":"available","active_power_w":{power_w}}}}}"#,
                micros / 1_000_000,
                micros % 1_000_000,
            );
            self.controller.telemetry(self.building, payload).await;
            let second = micros / 1_000_000;
            seen.push(self.until_readable(begun, second, power_w).await);
            let pause = PAUSES_MS[(seen.len() + self.number) % PAUSES_MS.len()];
            tokio::time::sleep(Duration::from_millis(pause)).await;
        }
        seen
    }

    async fn until_readable(&self, begun: Instant, second: i64, power_w: i64) -> Option<f64> {
        let path = format!("/buildings/{}/electricity/latest/", self.building);
        while begun.elapsed() < PATIENCE {
            let (_, body) = self.client.get(&path).await;
            if body["datetime"] == second && body["value"] == power_w {
                return Some(begun.elapsed().as_secs_f64());
            }
            tokio::time::sleep(LOOK).await;
        }
        None
    }
}

impl Latency {
    fn of(seen: &[Option<f64>]) -> Self {
        let mut sorted: Vec<f64> = seen.iter().flatten().copied().collect();
        sorted.sort_by(f64::total_cmp);
        Self {
            probes: seen.len(),
            never_readable: seen.len() - sorted.len(),
            p50_s: percentile(&sorted, 50),
            p95_s: percentile(&sorted, 95),
            p99_s: percentile(&sorted, 99),
            max_s: percentile(&sorted, 100),
        }
    }
}
