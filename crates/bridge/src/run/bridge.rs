//! What the loop does with each happening.

mod leaving;

use super::silence::{REPORT_WITHIN, Silence};
use crate::config::{Config, EVERY_PACKET_IDENTIFIER, Handles, KEEP_ALIVE, STABLE_AFTER};
use crate::connection::{Connector, refused};
use crate::conservation::{Acknowledged, count_abandoned, count_arrival, count_overflow};
use crate::intake;
use crate::ledger::{Acknowledgement, Ledger};
use crate::limit::Limit;
use crate::log::{Attempt, Log, Outcome};
use domain::time::Timestamp;
use leaving::Leaving;
use mqtt::{Line, Vigil, Watched};
use ops::failure::Fatal;
use ops::health::Condition;
use ops::metrics::{Counter, Gauge};
use ops::retry::Backoff;
use rumqttc::v5::mqttbytes::QoS;
use rumqttc::v5::mqttbytes::v5::{ConnAck, Publish, SubAck};
use std::time::{Duration, Instant as StdInstant};
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep_until};

/// A broker that has this many times as much in flight as it may is read no further: Mosquitto 2.0.11 exceeds what it was told.
const TOLERATED: usize = 2;

/// A clock that goes back by so much was set; by less, it only did not move while messages came in.
const SMALLEST_STEP_BACK: Duration = Duration::from_secs(1);

/// Why a connection is over.
pub(super) enum Ended {
    /// The process stops.
    Stopped,
    /// Nothing is left at the broker, for a bridge that leaves for good.
    Emptied,
    /// Another one is to be made.
    Lost(String),
    /// No other one would help.
    Fatal(Fatal),
}

/// Everything that outlives a connection.
pub(super) struct Bridge {
    connector: Connector,
    log: Log,
    ledger: Ledger,
    limit: Limit,
    handles: Handles,
    receive_maximum: usize,
    mqtt: Condition,
    delivery: Condition,
    /// When the present connection was confirmed.
    connected_at: Option<Instant>,
    /// When the broker was heard last.
    heard_at: Instant,
    /// Listens to the broker from the confirmation of the subscription on.
    vigil: Option<Vigil>,
    between_connections: Backoff,
    /// Nothing is handed over before this moment.
    paused_until: Option<Instant>,
    between_attempts: Backoff,
    silence: Silence,
    /// When the newest message came in.
    stamped: Timestamp,
    /// Whether what the broker offers was told.
    judged: bool,
    /// Whether the present connection has lost messages without a guarantee.
    overflowed: bool,
    /// How far a bridge has come that leaves for good.
    leaving: Option<Leaving>,
    /// What the log needs beside this loop; ends with it.
    _tasks: JoinSet<()>,
}

impl Bridge {
    pub(super) fn new(config: &Config, log: Log, handles: Handles) -> Result<Self, Fatal> {
        let connector = Connector::new(config).map_err(Fatal)?;
        let mqtt = handles.health.condition("mqtt");
        let delivery = handles.health.condition("delivery");
        delivery.ready();
        let mut tasks = JoinSet::new();
        log.start(&mut tasks, &handles);
        Ok(Self {
            connector,
            log,
            ledger: Ledger::default(),
            limit: Limit::new(config.building_message_limit),
            handles,
            receive_maximum: usize::from(config.receive_maximum.max(1)),
            mqtt,
            delivery,
            connected_at: None,
            heard_at: Instant::now(),
            vigil: None,
            between_connections: Backoff::default(),
            paused_until: None,
            between_attempts: Backoff::default(),
            silence: Silence::default(),
            stamped: Timestamp::from_micros(i64::MIN),
            judged: false,
            overflowed: false,
            leaving: config.leave.then_some(Leaving::Emptying),
            _tasks: tasks,
        })
    }

    pub(super) async fn connect(&self) -> Result<(Line, ConnAck), Ended> {
        self.connector.connect().await.map_err(Ended::Lost)
    }

    pub(super) async fn end_session(&self) -> Result<(), String> {
        self.connector.end_session().await
    }

    pub(super) fn connected(&mut self, line: &mut Line, answer: &ConnAck) {
        if !std::mem::replace(&mut self.judged, true) {
            self.connector.judge(answer);
        }
        self.connected_at = Some(Instant::now());
        self.heard_at = Instant::now();
        if self.leaving.is_some() {
            self.unsubscribe(line);
        } else {
            self.connector.subscribe(line);
        }
    }

    pub(super) fn subscribed(&mut self, answer: &SubAck) -> Result<(), Ended> {
        if let Some(cause) = refused(answer) {
            return Err(Ended::Lost(cause));
        }
        self.vigil = Some(Vigil::new(StdInstant::now()));
        self.mqtt.ready();
        Ok(())
    }

    /// Whether the broker may send more. It must not while as much is in flight as it was told; one that does so is held
    /// up, since what it sends on top would be buffered here.
    pub(super) fn may_read(&self) -> bool {
        self.ledger.in_flight() < self.receive_maximum * TOLERATED
    }

    /// Something came from the broker.
    pub(super) fn hear(&mut self) {
        self.heard_at = Instant::now();
        if let Some(vigil) = &mut self.vigil {
            vigil.hear(StdInstant::now());
        }
    }

    /// Enters a message and hands it over.
    pub(super) fn arrive(&mut self, publish: Publish) -> Result<(), Ended> {
        if let Some(leaving) = &mut self.leaving {
            leaving.arrive();
        }
        let without_guarantee = publish.qos == QoS::AtMostOnce;
        if without_guarantee && self.ledger.in_flight() >= self.receive_maximum {
            self.overflow();
            return Ok(());
        }
        if self.ledger.in_flight() >= EVERY_PACKET_IDENTIFIER {
            let cause = "the broker uses packet identifiers that are not free";
            return Err(Ended::Lost(cause.to_owned()));
        }
        let acknowledgement = Acknowledgement {
            packet_identifier: publish.pkid,
            qos: publish.qos,
        };
        let received_at = self.stamp();
        let letter = intake::receive(publish, received_at, &mut self.limit, Instant::now());
        self.ledger.arrive(letter, acknowledgement);
        count_arrival(&self.handles.metrics);
        self.hand_over()
    }

    /// The moment of receipt, another one for each message: presence has no other time, so what came
    /// first must show. A clock that steps back is followed at once.
    fn stamp(&mut self) -> Timestamp {
        let now = Timestamp::from_micros(self.handles.clock.now_micros());
        let next = Timestamp::from_micros(self.stamped.micros().saturating_add(1));
        let steps_back = next > now.plus(SMALLEST_STEP_BACK);
        self.stamped = if steps_back { now } else { now.max(next) };
        self.stamped
    }

    /// Hands over what waits, as far as there is room.
    pub(super) fn hand_over(&mut self) -> Result<(), Ended> {
        if self
            .paused_until
            .is_some_and(|until| Instant::now() < until)
        {
            return Ok(());
        }
        self.paused_until = None;
        while let Some((ticket, letter)) = self.ledger.next_waiting() {
            match self.log.hand_over(ticket, letter) {
                Attempt::Taken => self.ledger.handed_over(ticket),
                Attempt::Full => break,
                Attempt::Refused(cause) => {
                    self.ledger.failed(ticket);
                    self.pause(&cause, 1);
                    break;
                }
                Attempt::Ended(cause) => return Err(Ended::Fatal(Fatal(cause))),
            }
        }
        Ok(())
    }

    /// Reads what became of messages, and acknowledges what may be acknowledged.
    pub(super) fn settle(&mut self, line: &mut Line) -> Result<(), Ended> {
        if let Some(cause) = self.log.fatal() {
            return Err(Ended::Fatal(Fatal(cause)));
        }
        let mut failures = 0;
        let mut last_cause = None;
        for report in self.log.deliveries().take() {
            match report.outcome {
                Outcome::Durable => self.ledger.durable(report.ticket),
                Outcome::Returned => self.ledger.returned(report.ticket),
                Outcome::Failed(cause) => {
                    if self.ledger.failed(report.ticket) {
                        failures += 1;
                        last_cause = Some(cause);
                    }
                }
            }
        }
        let failed = last_cause.is_some();
        if let Some(cause) = last_cause {
            self.pause(&cause, failures);
        }
        self.acknowledge(line);
        self.ask_what_is_left(line);
        if !failed {
            self.recover();
        }
        self.hand_over()
    }

    /// Looks whether the log still reports and the broker still answers, since their silence wakes nobody, and
    /// whether floods are over.
    pub(super) fn look(&mut self, line: &mut Line) -> Result<(), Ended> {
        self.tell_floods();
        self.recover();
        self.tell_oldest();
        line.keep_alive();
        if !self.may_read() {
            // Nobody listens.
            self.hear();
        }
        if self.heard_at.elapsed() >= KEEP_ALIVE * 2 {
            return Err(Ended::Lost(Vigil::cause()));
        }
        match self.vigil.as_mut().map(|it| it.look(StdInstant::now())) {
            None => Ok(()),
            Some(Watched::Well { asked: true }) => Ok(()),
            Some(Watched::Well { asked: false }) => {
                self.mqtt.ready();
                Ok(())
            }
            Some(Watched::Ask) => {
                line.ping();
                Ok(())
            }
            // The connection is ended, should it last.
            Some(Watched::Silent) => {
                let broker = &self.connector.name;
                self.mqtt.not_ready(format!("{broker}: {}", Vigil::cause()));
                Ok(())
            }
        }
    }

    fn tell_floods(&mut self) {
        self.limit.look(Instant::now());
        let flooding = u32::try_from(self.limit.flooding()).unwrap_or(u32::MAX);
        let metrics = &self.handles.metrics;
        metrics.update(|it| it.set(Gauge::BridgeFloodingBuildings, flooding.into()));
    }

    /// Tells how old the oldest message in flight is.
    fn tell_oldest(&self) {
        let age = self.ledger.oldest_received_at().map_or(0, |received| {
            self.handles.clock.now_micros() - received.micros()
        });
        let age = Duration::from_micros(u64::try_from(age).unwrap_or_default());
        let gauge = Gauge::BridgeOldestUnacknowledgedSeconds;
        let metrics = &self.handles.metrics;
        metrics.update(|update| update.set(gauge, age.as_secs_f64()));
    }

    /// Prepares for the next connection; tells how long to wait before it.
    pub(super) fn lose(&mut self, cause: String) -> Duration {
        let broker = &self.connector.name;
        self.mqtt.not_ready(format!("{broker}: {cause}"));
        self.vigil = None;
        self.abandon();
        self.tell_oldest();
        if let Some(since) = self.connected_at.take() {
            let metrics = &self.handles.metrics;
            metrics.update(|update| update.add(Counter::BridgeReconnects, 1));
            if since.elapsed() >= STABLE_AFTER {
                self.between_connections.reset();
            }
        }
        self.between_connections.next_wait()
    }

    /// Gives up what is in flight: the broker delivers it again on the next connection.
    pub(super) fn abandon(&mut self) {
        let abandoned = self.ledger.forget();
        self.overflowed = false;
        self.recover();
        if abandoned > 0 {
            count_abandoned(&self.handles.metrics, abandoned);
            self.log.purge();
            tracing::info!(messages = abandoned, "in flight at the connection's end");
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.ledger.is_empty()
    }

    pub(super) fn has_waiting(&self) -> bool {
        self.ledger.has_waiting()
    }

    /// Waits for reports.
    pub(super) async fn reported(&self) {
        self.log.deliveries().arrived().await;
    }

    /// Waits until another attempt to hand over makes sense.
    pub(super) async fn room(&self) {
        match self.paused_until {
            Some(until) => sleep_until(until).await,
            None => self.log.room().await,
        }
    }

    fn acknowledge(&mut self, line: &mut Line) {
        let mut acknowledged = Acknowledged::default();
        for entry in self.ledger.take_acknowledgeable() {
            acknowledged.add(&entry.letter);
            if entry.acknowledgement.qos != QoS::AtMostOnce {
                line.acknowledge(entry.acknowledgement.packet_identifier);
            }
        }
        acknowledged.count(&self.handles.metrics);
    }

    fn pause(&mut self, cause: &str, failures: u64) {
        let metrics = &self.handles.metrics;
        metrics.update(|update| update.add(Counter::BridgeDeliveryFailures, failures));
        self.delivery.not_ready(self.log.tell(cause));
        // Failures come in swarms: one wait for all of them.
        if self
            .paused_until
            .is_none_or(|until| Instant::now() >= until)
        {
            self.paused_until = Some(Instant::now() + self.between_attempts.next_wait());
        }
    }

    fn recover(&mut self) {
        let oldest = self.ledger.oldest_handed_over();
        let silent = self.silence.lasts(oldest, Instant::now());
        if self.ledger.has_failed() {
            return;
        }
        self.between_attempts.reset();
        if silent {
            let seconds = REPORT_WITHIN.as_secs();
            let log = self.log.name();
            let cause =
                format!("{log}: a message was handed over and is not confirmed for {seconds} s");
            self.delivery.not_ready(cause);
        } else {
            self.delivery.ready();
        }
    }

    fn overflow(&mut self) {
        count_overflow(&self.handles.metrics);
        if !self.overflowed {
            self.overflowed = true;
            tracing::warn!("messages of quality of service 0 found no room, they are lost");
        }
    }
}
