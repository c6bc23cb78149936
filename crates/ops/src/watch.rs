//! Looking at a server once a second, and telling how it is.

use crate::health::Condition;
use crate::shutdown::Shutdown;
use std::future::Future;
use std::time::Duration;
use tokio::time::{sleep, timeout};

/// Between the end of a look and the next one.
const INTERVAL: Duration = Duration::from_secs(1);

/// How long a look may take. With the pause before it an outage is told within 4 seconds; 5 are promised.
const PATIENCE: Duration = Duration::from_millis(2_500);

/// One look: the condition holds if it succeeds in time. `server` names who is looked at when there is no answer.
pub async fn look(
    condition: &Condition,
    server: &str,
    question: impl Future<Output = Result<(), String>>,
) {
    match timeout(PATIENCE, question).await {
        Ok(Ok(())) => condition.ready(),
        Ok(Err(cause)) => condition.not_ready(cause),
        Err(_) => {
            let seconds = PATIENCE.as_secs_f64();
            condition.not_ready(format!("{server}: no answer within {seconds} s"));
        }
    }
}

/// The pause between two looks; answers false when the stop is wanted.
pub async fn goes_on(shutdown: &Shutdown) -> bool {
    tokio::select! {
        () = shutdown.requested() => false,
        () = sleep(INTERVAL) => true,
    }
}
