//! Asking again until the answer is right, in place of sleeping.

use std::fmt::Debug;
use std::time::{Duration, Instant};

/// Longer than anything in a healthy system takes on a loaded machine.
const PATIENCE: Duration = Duration::from_secs(60);
/// Pause between two questions.
const PAUSE: Duration = Duration::from_millis(50);

/// Asks until the answer is `Ok`; panics with the last `Err` after a minute.
pub async fn eventually<T, E: Debug>(question: impl AsyncFnMut() -> Result<T, E>) -> T {
    eventually_within(PATIENCE, question).await
}

/// Asks until the answer is `Ok`; panics with the last `Err` after `patience`.
pub async fn eventually_within<T, E: Debug>(
    patience: Duration,
    mut question: impl AsyncFnMut() -> Result<T, E>,
) -> T {
    let begun = Instant::now();
    loop {
        match question().await {
            Ok(answer) => return answer,
            Err(wrong) if begun.elapsed() > patience => {
                panic!("still wrong after {patience:?}: {wrong:?}")
            }
            Err(_) => tokio::time::sleep(PAUSE).await,
        }
    }
}
