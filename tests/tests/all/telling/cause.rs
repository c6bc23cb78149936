//! How soon a process tells a cause, and that it goes on by itself when the cause is gone.

use std::time::{Duration, Instant};
use testkit::{Running, eventually_within};

/// What the specification allows, and one look of the test.
const RED_WITHIN: Duration = Duration::from_millis(5_100);

/// Servers take their time to come back; nobody lends a hand.
const GREEN_WITHIN: Duration = Duration::from_secs(40);

/// A role, the condition that must break, and words that its cause must have.
pub(crate) type Affected<'a> = (&'a Running, &'a str, &'a [&'a str]);

/// Waits until each of these processes is not ready and names the cause; fails when one takes longer than 5 seconds
/// from now.
pub(crate) async fn all_tell(cause: &str, affected: &[Affected<'_>]) {
    let begun = Instant::now();
    for (role, condition, words) in affected {
        let red = eventually_within(RED_WITHIN.saturating_sub(begun.elapsed()), async || {
            let (status, body) = role.readiness().await?;
            let told = body["conditions"][condition].as_str().unwrap_or_default();
            let named = words.iter().all(|word| told.contains(word));
            if status == 503 && told != "ready" && named {
                Ok(told.to_owned())
            } else {
                Err(format!("{cause}: {status} {body}, expected {words:?}"))
            }
        });
        let told = red.await;
        #[expect(clippy::print_stdout, reason = "a figure for whoever runs it")]
        {
            println!("{cause}: {:.1} s: {told}", begun.elapsed().as_secs_f64());
        }
        assert!(!told.contains("sesame"), "{told}");
    }
}

/// Waits until all of these processes are ready again.
pub(crate) async fn all_are_well(cause: &str, roles: &[&Running]) {
    for role in roles {
        eventually_within(GREEN_WITHIN, async || match role.readiness().await? {
            (200, _) => Ok(()),
            other => Err(format!("after {cause}: {other:?}")),
        })
        .await;
    }
}

/// These processes have nothing to do with the cause.
pub(crate) async fn are_untouched(cause: &str, roles: &[&Running]) {
    for role in roles {
        let (status, body) = role.readiness().await.unwrap();
        assert_eq!(status, 200, "{cause}: {body}");
    }
}
