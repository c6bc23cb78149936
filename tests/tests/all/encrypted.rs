//! TLS and passwords between the service and its servers, on real ones: who is not who it should be is refused,
//! with a cause that an operator can act on, and without a storm of attempts.

#[path = "encrypted/broker.rs"]
mod broker;
#[path = "encrypted/database.rs"]
mod database;
#[path = "encrypted/log.rs"]
mod log;

use crate::WATTLINE;
use std::time::{Duration, Instant};
use testkit::{Mode, Proxy, Running, World, eventually};

const PASSWORD: &str = "correct-horse";

/// A world whose process is told of one server by other settings.
async fn world_with(settings: &[(&str, &str)]) -> World {
    let mut world = World::new(WATTLINE, Mode::Direct).await;
    for (name, value) in settings {
        world
            .settings
            .insert((*name).to_owned(), (*value).to_owned());
    }
    world
}

/// Waits until readiness tells this cause of this condition; no password may be in it.
async fn tells(process: &Running, condition: &str, cause: &str) {
    let told = eventually(async || {
        let (status, body) = process.readiness().await?;
        let told = body.to_string();
        if status == 503 && told.contains(condition) && told.contains(cause) {
            Ok(told)
        } else {
            Err(told)
        }
    })
    .await;
    assert!(
        !told.contains(PASSWORD) && !told.contains("secret"),
        "{told}"
    );
}

/// Waits for a dozen attempts to connect, of two who wait ever longer between theirs, and asserts that
/// they took as long as such waits take at least.
///
/// One of the two made half of the attempts: its five waits are no shorter than 50, 100, 200, 400 and
/// 800 ms, which `ops::retry::Backoff` promises.
async fn attempts_take_their_time(proxy: &Proxy) {
    let begun = Instant::now();
    let before = proxy.sent_to_server().len();
    eventually(async || match proxy.sent_to_server().len() - before {
        enough if enough >= 12 => Ok(()),
        fewer => Err(fewer),
    })
    .await;
    assert!(
        begun.elapsed() >= Duration::from_millis(1_500),
        "{:?}",
        begun.elapsed()
    );
}
