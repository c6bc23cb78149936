//! Counting so that at every scrape received = forwarded + dead-lettered + abandoned + in flight.
//!
//! A message leaves "in flight" for "forwarded" or "dead-lettered" when its acknowledgement is
//! handed over, and for "abandoned" when its connection ends before that. Each change of state is
//! one update, which a scrape sees whole or not at all.

use crate::log::Letter;
use domain::rejection::Reason;
use ops::metrics::{Counter, Gauge, Metrics};

/// What a run of acknowledged messages adds to the counters.
#[derive(Debug, Default)]
pub(crate) struct Acknowledged {
    forwarded: u64,
    dead_lettered: [u64; Reason::ALL.len()],
}

impl Acknowledged {
    /// Adds one message.
    pub(crate) fn add(&mut self, letter: &Letter) {
        match letter {
            Letter::Record(_) => self.forwarded += 1,
            Letter::Dead(dead) => self.dead_lettered[dead.rejection.reason as usize] += 1,
        }
    }

    /// Counts the run.
    pub(crate) fn count(&self, metrics: &Metrics) {
        let dead_lettered: u64 = self.dead_lettered.iter().sum();
        let messages = self.forwarded + dead_lettered;
        if messages == 0 {
            return;
        }
        metrics.update(|update| {
            update.add(Counter::BridgeForwardedMessages, self.forwarded);
            for (reason, count) in Reason::ALL.into_iter().zip(self.dead_lettered) {
                if count > 0 {
                    let counter = Counter::BridgeDeadLetteredMessages;
                    update.add_labelled(counter, reason.as_str(), count);
                }
            }
            update.lower(Gauge::BridgeInFlightMessages, gauge(messages));
        });
    }
}

/// Counts a message that was entered into the ledger.
pub(crate) fn count_arrival(metrics: &Metrics) {
    metrics.update(|update| {
        update.add(Counter::BridgeReceivedMessages, 1);
        update.raise(Gauge::BridgeInFlightMessages, 1.0);
    });
}

/// Counts a message without a guarantee (quality of service 0) that found no room.
pub(crate) fn count_overflow(metrics: &Metrics) {
    metrics.update(|update| {
        update.add(Counter::BridgeReceivedMessages, 1);
        update.add(Counter::BridgeAbandonedMessages, 1);
    });
}

/// Counts the messages that were in flight when their connection ended.
pub(crate) fn count_abandoned(metrics: &Metrics, messages: usize) {
    let messages = messages as u64;
    metrics.update(|update| {
        update.add(Counter::BridgeAbandonedMessages, messages);
        update.lower(Gauge::BridgeInFlightMessages, gauge(messages));
    });
}

#[expect(
    clippy::cast_precision_loss,
    reason = "at most 65,535 messages are in flight"
)]
fn gauge(messages: u64) -> f64 {
    messages as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::intake::receive;
    use crate::limit::Limit;
    use domain::time::Timestamp;
    use rumqttc::v5::mqttbytes::QoS;
    use rumqttc::v5::mqttbytes::v5::Publish;
    use tokio::time::Instant;

    fn value(metrics: &Metrics, series: &str) -> f64 {
        let text = metrics.render();
        let mut lines = text.lines().filter_map(|line| line.split_once(' '));
        let found = lines.find(|(name, _)| *name == series);
        found.map(|(_, value)| value.parse().unwrap()).unwrap()
    }

    #[test]
    fn every_message_is_counted_in_exactly_one_place() {
        let metrics = Metrics::new();
        let mut run = Acknowledged::default();
        let topics = [
            "v1/buildings/6f1f0a0e-2c7c-4c67-9e0b-3a5d2a0f9b11/presence",
            "v1/x",
        ];
        for topic in topics {
            let publish = Publish::new(topic, QoS::AtLeastOnce, r#"{"online": true}"#, None);
            count_arrival(&metrics);
            let moment = Timestamp::from_micros(0);
            let limit = &mut Limit::new(0);
            run.add(&receive(publish, moment, limit, Instant::now()));
        }
        for _ in 0..3 {
            count_arrival(&metrics);
        }
        count_overflow(&metrics);
        assert_eq!(value(&metrics, "wattline_bridge_in_flight_messages"), 5.0);
        run.count(&metrics);
        count_abandoned(&metrics, 2);
        let check =
            |series, expected: f64| assert_eq!(value(&metrics, series), expected, "{series}");
        check("wattline_bridge_received_messages_total", 6.0);
        check("wattline_bridge_forwarded_messages_total", 1.0);
        check(
            "wattline_bridge_dead_lettered_messages_total{reason=\"unknown_topic\"}",
            1.0,
        );
        check("wattline_bridge_abandoned_messages_total", 3.0);
        check("wattline_bridge_in_flight_messages", 1.0);
    }

    #[test]
    fn reasons_are_counted_under_their_own_name() {
        for (place, reason) in Reason::ALL.into_iter().enumerate() {
            assert_eq!(reason as usize, place);
        }
    }
}
