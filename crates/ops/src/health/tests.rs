use super::*;
use std::io;

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
fn a_process_is_ready_when_all_of_its_conditions_hold() {
    let health = Health::new();
    assert!(health.report().ready);
    let (kafka, database) = (health.condition("kafka"), health.condition("database"));
    assert_eq!(
        health.report().causes,
        [
            ("kafka".to_owned(), "starting".to_owned()),
            ("database".to_owned(), "starting".to_owned())
        ]
    );
    kafka.ready();
    database.not_ready("connection refused");
    assert_eq!(
        health.report(),
        Report {
            ready: false,
            causes: vec![("database".to_owned(), "connection refused".to_owned())],
            names: vec!["kafka".to_owned(), "database".to_owned()],
        }
    );
    database.ready();
    assert!(health.report().ready);
}

#[test]
fn two_components_with_the_same_condition_do_not_speak_for_each_other() {
    let health = Health::new();
    let (bridge, aggregator) = (health.condition("kafka"), health.condition("kafka"));
    bridge.ready();
    aggregator.not_ready("no coordinator");
    let report = health.report();
    assert_eq!(report.names, ["kafka"]);
    assert_eq!(
        report.causes,
        [("kafka".to_owned(), "no coordinator".to_owned())]
    );
    aggregator.ready();
    assert!(health.report().ready);
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
