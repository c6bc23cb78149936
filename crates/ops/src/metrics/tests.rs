use super::*;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};

/// The samples of a scrape, by name with labels.
fn samples(text: &str) -> BTreeMap<String, f64> {
    text.lines()
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
        .map(|line| line.rsplit_once(' ').unwrap())
        .map(|(name, value)| (name.to_owned(), value.parse().unwrap()))
        .collect()
}

#[test]
fn every_series_is_there_at_zero_from_the_start() {
    let text = Metrics::new().render();
    let samples = samples(&text);
    assert!(samples.values().all(|value| *value == 0.0), "{text}");
    let counters = Counter::ALL.map(Counter::row);
    for row in counters.into_iter().chain(Gauge::ALL.map(Gauge::row)) {
        let Some(label) = row.label else {
            assert!(samples.contains_key(row.name), "{}", row.name);
            continue;
        };
        for value in label.values {
            let series = format!("{}{{{}=\"{value}\"}}", row.name, label.key);
            assert!(samples.contains_key(&series), "{series}");
        }
    }
    for row in Histogram::ALL.map(Histogram::row) {
        for end in ["_count", "_sum", "_bucket{le=\"+Inf\"}"] {
            assert!(samples.contains_key(&format!("{}{end}", row.name)));
        }
    }
}

#[test]
fn the_table_is_in_the_order_of_its_enums_and_names_everything_once() {
    let indices = Counter::ALL.map(|counter| counter as usize);
    assert!(indices.into_iter().eq(0..Counter::ALL.len()));
    let indices = Gauge::ALL.map(|gauge| gauge as usize);
    assert!(indices.into_iter().eq(0..Gauge::ALL.len()));
    let indices = Histogram::ALL.map(|histogram| histogram as usize);
    assert!(indices.into_iter().eq(0..Histogram::ALL.len()));

    let counters = Counter::ALL.map(|counter| counter.row().name);
    assert!(counters.iter().all(|name| name.ends_with("_total")));
    let gauges = Gauge::ALL.map(|gauge| gauge.row().name);
    let histograms = Histogram::ALL.map(|histogram| histogram.row().name);
    let mut names = [&counters[..], &gauges[..], &histograms[..]].concat();
    assert!(names.iter().all(|name| name.starts_with("wattline_")));
    let count = names.len();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), count);
}

#[test]
fn what_is_counted_is_in_the_scrape_with_its_help_and_kind() {
    let metrics = Metrics::new();
    metrics.update(|update| {
        update.add(Counter::BridgeReceivedMessages, 3);
        update.add_labelled(Counter::BridgeDeadLetteredMessages, "schema", 2);
        update.set(Gauge::AggregatorLagMessages, 7.0);
        update.raise(Gauge::BridgeInFlightMessages, 5.0);
        update.lower(Gauge::BridgeInFlightMessages, 4.0);
        update.set_labelled(Gauge::ConditionReady, "kafka", 1.0);
        update.observe(Histogram::ApiRequestSeconds, 0.03);
    });
    metrics.compact();
    let text = metrics.render();
    for line in [
        "# HELP wattline_bridge_received_messages_total Messages that the broker delivered, repetitions included.",
        "# TYPE wattline_bridge_received_messages_total counter",
        "wattline_bridge_received_messages_total 3",
        "wattline_bridge_dead_lettered_messages_total{reason=\"schema\"} 2",
        "# TYPE wattline_bridge_in_flight_messages gauge",
        "wattline_bridge_in_flight_messages 1",
        "wattline_aggregator_lag_messages 7",
        "wattline_condition_ready{condition=\"kafka\"} 1",
        "# TYPE wattline_api_request_seconds histogram",
        "wattline_api_request_seconds_bucket{le=\"0.025\"} 0",
        "wattline_api_request_seconds_bucket{le=\"0.05\"} 1",
        "wattline_api_request_seconds_count 1",
    ] {
        assert!(text.lines().any(|found| found == line), "{line}\n{text}");
    }
}

#[test]
fn metrics_of_one_process_do_not_count_for_another() {
    let metrics = Metrics::new();
    metrics.update(|update| update.add(Counter::BridgeReconnects, 1));
    let other = samples(&Metrics::new().render());
    assert_eq!(other["wattline_bridge_reconnects_total"], 0.0);
}

/// Moves one message through the counters of the bridge's conservation equation.
fn receive_and_forward(metrics: &Metrics) {
    metrics.update(|update| {
        update.add(Counter::BridgeReceivedMessages, 3);
        std::thread::yield_now();
        update.raise(Gauge::BridgeInFlightMessages, 3.0);
    });
    metrics.update(|update| {
        update.lower(Gauge::BridgeInFlightMessages, 3.0);
        std::thread::yield_now();
        update.add(Counter::BridgeForwardedMessages, 1);
        update.add_labelled(Counter::BridgeDeadLetteredMessages, "too_old", 1);
        update.add(Counter::BridgeAbandonedMessages, 1);
        update.observe(Histogram::AggregatorBatchMessages, 3.0);
    });
}

/// Tells the threads to stop, also when an assertion fails: the scope waits for them.
struct StopOnDrop<'a>(&'a AtomicBool);

impl Drop for StopOnDrop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

fn assert_balanced(samples: &BTreeMap<String, f64>) {
    let forwarded = samples["wattline_bridge_forwarded_messages_total"];
    let refused = samples["wattline_bridge_dead_lettered_messages_total{reason=\"too_old\"}"];
    let abandoned = samples["wattline_bridge_abandoned_messages_total"];
    let in_flight = samples["wattline_bridge_in_flight_messages"];
    let received = samples["wattline_bridge_received_messages_total"];
    assert_eq!(received, forwarded + refused + abandoned + in_flight);
    assert_eq!(forwarded, refused);
    let observed = samples["wattline_aggregator_batch_messages_count"];
    assert_eq!(observed, forwarded);
}

#[test]
fn a_scrape_never_sees_half_an_update() {
    const SCRAPES: usize = 300;
    let metrics = Metrics::new();
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let _stop = StopOnDrop(&stop);
        for _ in 0..3 {
            scope.spawn(|| {
                while !stop.load(Ordering::Relaxed) {
                    receive_and_forward(&metrics);
                }
            });
        }
        for _ in 0..SCRAPES {
            assert_balanced(&samples(&metrics.render()));
        }
    });
    let samples = samples(&metrics.render());
    assert_balanced(&samples);
    assert!(samples["wattline_bridge_received_messages_total"] > 0.0);
}
