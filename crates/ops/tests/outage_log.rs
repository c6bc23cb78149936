//! What a condition logs. A binary of its own: tracing remembers for the whole process whether anybody
//! listens to a line, and other tests' threads do not.
#![expect(
    clippy::unwrap_used,
    reason = "a test that cannot go on fails, with its place"
)]

use ops::health::Health;
use std::io;
use std::sync::{Arc, Mutex};

/// Log lines that the current thread wrote.
#[derive(Clone, Default)]
struct Lines(Arc<Mutex<Vec<u8>>>);

impl io::Write for Lines {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn logged(action: impl FnOnce()) -> Vec<String> {
    let lines = Lines::default();
    let writer = lines.clone();
    let subscriber = tracing_subscriber::fmt()
        .with_writer(move || writer.clone())
        .with_ansi(false)
        .finish();
    tracing::subscriber::with_default(subscriber, action);
    let bytes = lines.0.lock().unwrap().clone();
    let text = String::from_utf8(bytes).unwrap();
    text.lines().map(str::to_owned).collect()
}

#[test]
fn a_condition_is_logged_when_it_changes_and_not_while_it_lasts() {
    let health = Health::new();
    let kafka = health.condition("kafka");
    let lines = logged(|| {
        kafka.ready();
        kafka.ready();
        for cause in ["refused", "refused", "timed out"] {
            kafka.not_ready(cause);
        }
        kafka.ready();
        kafka.ready();
    });
    let [first, outage, end] = &lines[..] else {
        panic!("{lines:#?}");
    };
    assert!(
        first.contains("INFO") && first.contains("condition=\"kafka\""),
        "{first}"
    );
    assert!(
        outage.contains("WARN") && outage.contains("cause=\"refused\""),
        "{outage}"
    );
    assert!(end.contains("INFO") && end.contains("seconds="), "{end}");
}
