//! The load: requests at a fixed rate, evenly over four reads and all buildings.

use crate::api::Api;
use crate::history::{BUILDINGS_PER_USER, History};
use crate::options::Options;
use benches::Outcome;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng as _, SeedableRng as _};
use std::time::Duration;
use testkit::Client;
use tokio::task::JoinSet;
use tokio::time::{Instant, interval};

/// Everything random follows from it.
const SEED: u64 = 4;

/// The four reads, as the report calls them.
pub(crate) const READS: [&str; 4] = [
    "electricity/actual/",
    "electricity/latest/",
    "electricity/meterreadings/",
    "comfort/history/day/",
];

/// What became of the requests for one read.
#[derive(Default)]
pub(crate) struct Answers {
    /// From the moment the request was due until its answer was read.
    pub(crate) latencies: Vec<Duration>,
    /// Status codes other than 200 and 204.
    pub(crate) refusals: Vec<u16>,
}

/// Sends all requests and waits for their answers; in the order of [`READS`].
pub(crate) async fn run(api: &Api, history: &History, options: &Options) -> Outcome<Vec<Answers>> {
    let clients = api.clients(options.buildings).await;
    let mut random = ChaCha8Rng::seed_from_u64(SEED);
    // Each connection and each plan once, as in any process that has run for a while.
    for (read, _) in READS
        .iter()
        .enumerate()
        .cycle()
        .take(clients.len() * READS.len())
    {
        let (client, path) = request(read, &clients, history, &mut random);
        client.get(&path).await;
    }
    let requests = options.rate * options.seconds;
    let mut ticks = interval(Duration::from_secs(1) / options.rate);
    let mut tasks = JoinSet::new();
    for number in 0..requests {
        let read = (number % 4) as usize;
        let (client, path) = request(read, &clients, history, &mut random);
        let due = ticks.tick().await;
        tasks.spawn(async move {
            let (status, _) = client.get(&path).await;
            (read, status, Instant::now() - due)
        });
    }
    let mut answers: Vec<Answers> = READS.iter().map(|_| Answers::default()).collect();
    while let Some(ended) = tasks.join_next().await {
        let (read, status, latency) = ended?;
        answers[read].latencies.push(latency);
        if status != 200 && status != 204 {
            answers[read].refusals.push(status);
        }
    }
    Ok(answers)
}

fn request(
    read: usize,
    clients: &[Client],
    history: &History,
    random: &mut ChaCha8Rng,
) -> (Client, String) {
    let number = below(random, clients.len() as u64 * u64::from(BUILDINGS_PER_USER));
    let (building, comfort_sensor) = history.buildings[number];
    let client = clients[number / BUILDINGS_PER_USER as usize].clone();
    let query = match read {
        2 => {
            let min_interval = ["minute", "quarter", "day"][below(random, 3)];
            let span = history.last_s.abs_diff(history.first_s);
            let timestamp = history.first_s + i64::try_from(below(random, span)).unwrap_or(0);
            match below(random, 2) {
                0 => format!("?min_interval={min_interval}"),
                _ => format!("?min_interval={min_interval}&timestamp={timestamp}"),
            }
        }
        3 => format!(
            "?sensor_id={comfort_sensor}&offset={}",
            ["0", "-1", "-2"][below(random, 3)]
        ),
        _ => String::new(),
    };
    (
        client,
        format!("/buildings/{building}/{}{query}", READS[read]),
    )
}

fn below(random: &mut ChaCha8Rng, end: u64) -> usize {
    usize::try_from(random.next_u64() % end).unwrap_or(0)
}
