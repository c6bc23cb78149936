use super::*;

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
            names: vec!["kafka", "database"],
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
