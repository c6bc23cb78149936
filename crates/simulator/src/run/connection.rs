//! One connection: keeps its window full, counts acknowledgements, starts over when it must.

use super::ledger::Ledger;
use super::presence;
use super::subscription;
use super::{Config, GRACE, Pace};
use crate::plan::{Plan, Publication};
use crate::scenario::Topics;
use crate::summary::Summary;
use domain::time::Timestamp;
use rumqttc::Outgoing;
use rumqttc::v5::mqttbytes::QoS;
use rumqttc::v5::mqttbytes::v5::{PubAck, PubAckReason, Publish};
use rumqttc::v5::{AsyncClient, Event, EventLoop, Incoming, MqttOptions};
use std::collections::VecDeque;
use std::pin::{Pin, pin};
use std::time::Duration;
use tokio::time::{Instant, Sleep, sleep};
use tokio_util::sync::CancellationToken;
use tracing::{info, warn};
use uuid::Uuid;
use wire::topic::{MqttTopic, RecordKind};

/// Even when nothing is due the connection looks around this often: for a clock that was set and
/// for a broker that fell silent.
const LOOK_AROUND: Duration = Duration::from_millis(250);
const FIRST_WAIT: Duration = Duration::from_millis(100);
const LONGEST_WAIT: Duration = Duration::from_secs(5);

/// A part of the fleet and its connection to the broker.
pub(crate) struct Connection<Now> {
    options: MqttOptions,
    window: u16,
    acknowledgement_timeout: Duration,
    pace: Pace,
    plan: Plan,
    /// Whose presence it tells; nobody's when it sends telemetry only.
    present: Vec<Uuid>,
    /// What it has to say about that before anything else.
    announcements: VecDeque<Publication>,
    /// Who listens to what is desired of it; nobody when it sends telemetry only.
    listeners: Vec<Uuid>,
    /// What was said about that and is not handed over: it waits for room in the window.
    reports: VecDeque<Publication>,
    /// Whether the next session begins by saying who is there: at first, and after a last will.
    greets: bool,
    /// Whether it has begun to say that nobody is there any more.
    farewell: bool,
    ledger: Ledger,
    counts: Summary,
    now: Now,
    shutdown: CancellationToken,
    /// When to give up on what is in flight, once told to stop.
    leave_at: Option<Instant>,
    /// Set by everything that shows that the broker answers, or that there was nothing to answer.
    answered: bool,
    connected: bool,
}

/// How a session ended.
enum End {
    Done,
    Lost(String),
}

impl<Now: Fn() -> i64> Connection<Now> {
    pub(crate) fn new(
        config: &Config,
        mut options: MqttOptions,
        plan: Plan,
        now: Now,
        shutdown: CancellationToken,
    ) -> Self {
        let present: Vec<Uuid> = match config.scenario.topics {
            Topics::All => plan.buildings().collect(),
            Topics::TelemetryOnly => Vec::new(),
        };
        if let Some(first) = present.first() {
            options.set_last_will(presence::last_will(*first));
        }
        let listeners = plan.listeners();
        if !listeners.is_empty() {
            options.set_max_packet_size(Some(subscription::LONGEST_PACKET));
        }
        Self {
            options,
            window: config.window,
            acknowledgement_timeout: config.acknowledgement_timeout,
            pace: config.pace,
            plan,
            present,
            announcements: VecDeque::new(),
            listeners,
            reports: VecDeque::new(),
            greets: true,
            farewell: false,
            ledger: Ledger::new(config.window),
            counts: Summary::default(),
            now,
            shutdown,
            leave_at: None,
            answered: true,
            connected: false,
        }
    }

    /// Publishes its part of the plan, one session after the other.
    pub(crate) async fn publish_all(mut self) -> Summary {
        let mut wait = FIRST_WAIT;
        let mut outage = false;
        while let End::Lost(cause) = self.session().await {
            if self.is_done() {
                break;
            }
            if self.connected || !outage {
                warn!(
                    client_id = self.options.client_id(),
                    cause, "broker is away"
                );
            }
            outage = true;
            if self.connected {
                self.counts.reconnects += 1;
                wait = FIRST_WAIT;
            }
            tokio::select! {
                () = sleep(wait) => wait = (wait * 2).min(LONGEST_WAIT),
                () = self.shutdown.cancelled() => break,
            }
        }
        self.summary()
    }

    fn summary(&self) -> Summary {
        let mut summary = self.plan.summary();
        summary += self.counts;
        summary.unacknowledged = self.ledger.unacknowledged() + self.reports.len() as u64;
        summary
    }

    /// Lives as long as one client. The client is never polled again after an error: what it has
    /// stashed goes with it, and the ledger hands everything to the next one.
    async fn session(&mut self) -> End {
        self.counts.repeated += self.ledger.start_over();
        if std::mem::take(&mut self.greets) && !self.farewell {
            self.announce(true);
        }
        self.connected = false;
        self.answered = true;
        let (client, mut event_loop) = self.client();
        let shutdown = self.shutdown.clone();
        let mut shutdown = pin!(shutdown.cancelled());
        let mut alarm = pin!(sleep(LOOK_AROUND));
        let mut silent_since = Instant::now();
        let mut leaving = false;
        loop {
            // A poll that is dropped half-way may lose a message: it lives until it is ready.
            let mut poll = pin!(event_loop.poll());
            let polled = loop {
                self.fill(&client, alarm.as_mut());
                if self.is_done() && !leaving {
                    leaving = client.try_disconnect().is_ok();
                }
                tokio::select! {
                    biased;
                    polled = &mut poll => break polled,
                    () = &mut shutdown, if self.leave_at.is_none() => self.stop(),
                    () = alarm.as_mut() => {
                        alarm.as_mut().reset(Instant::now() + LOOK_AROUND);
                        if let Some(end) = self.look_around(&mut silent_since) {
                            return end;
                        }
                    }
                }
            };
            match polled {
                Ok(Event::Incoming(packet)) => self.receive(&packet),
                Ok(Event::Outgoing(Outgoing::Publish(packet))) => self.ledger.sent(packet),
                Ok(Event::Outgoing(Outgoing::Disconnect)) => return End::Done,
                Ok(Event::Outgoing(_)) => {}
                Err(error) => return End::Lost(error.to_string()),
            }
        }
    }

    /// A fresh client that listens first and publishes then. Its queue holds the subscriptions and as
    /// much as the window.
    fn client(&self) -> (AsyncClient, EventLoop) {
        let packets = subscription::packets(&self.listeners);
        let capacity = usize::from(self.window) + packets.len();
        let (client, event_loop) = AsyncClient::new(self.options.clone(), capacity);
        for filters in packets {
            if client.try_subscribe_many(filters).is_err() {
                // Cannot be: the queue is new, and long enough.
                warn!("subscriptions to desired documents were not taken");
            }
        }
        (client, event_loop)
    }

    /// Nothing more is to be made.
    fn is_finished(&self) -> bool {
        self.leave_at.is_some() || self.plan.next_due().is_none()
    }

    /// Everything is published and confirmed, or shall not be any more.
    fn is_done(&self) -> bool {
        let finished = self.is_finished() && (self.farewell || self.present.is_empty());
        let said = self.announcements.is_empty() && self.reports.is_empty();
        finished && said && self.ledger.is_empty()
    }

    fn stop(&mut self) {
        self.leave_at = Some(Instant::now() + GRACE);
    }

    /// Hands over what is due as far as the window goes, and sets the alarm to what is due next.
    fn fill(&mut self, client: &AsyncClient, alarm: Pin<&mut Sleep>) {
        let now = match self.pace {
            Pace::Realtime => (self.now)(),
            Pace::AsFastAsPossible { .. } => i64::MAX,
        };
        if self.leave_at.is_none() && self.shutdown.is_cancelled() {
            self.stop();
        }
        if self.ledger.is_empty() {
            self.answered = true;
        }
        loop {
            while let Some(publication) = self.ledger.to_hand() {
                let payload = publication.payload.clone();
                let topic = &*publication.topic;
                let retained = publication.record == RecordKind::Presence;
                if client
                    .try_publish(topic, QoS::AtLeastOnce, retained, payload)
                    .is_err()
                {
                    // The client's queue is at least as long as the window, so it takes everything unless
                    // its event loop is at an end, which the next poll tells.
                    return;
                }
                self.ledger.handed();
            }
            if self.ledger.is_full() {
                return;
            }
            match self.next_publication(Timestamp::from_micros(now)) {
                Some(publication) => self.ledger.push(publication),
                None => break,
            }
        }
        if let Some(due) = self.plan.next_due() {
            set_earlier(alarm, due.micros_since(Timestamp::from_micros(now)));
        }
    }

    /// What to publish next: who is there comes first, and who has gone last.
    fn next_publication(&mut self, now: Timestamp) -> Option<Publication> {
        if self.announcements.is_empty()
            && let Some(report) = self.reports.pop_front()
        {
            return Some(report);
        }
        if self.is_finished() && !self.farewell {
            self.farewell = true;
            self.announce(false);
        }
        if let Some(announcement) = self.announcements.pop_front() {
            self.counts.presence.records += 1;
            self.counts.presence.good += 1;
            return Some(announcement);
        }
        match self.leave_at {
            Some(_) => None,
            None => self.plan.next_until(now),
        }
    }

    /// Says of every building whether it is there, in place of what was still to be said.
    fn announce(&mut self, online: bool) {
        let time = Timestamp::from_micros((self.now)());
        let present = self.present.iter();
        self.announcements = present
            .map(|building| presence::said(*building, online, time))
            .collect();
    }

    fn receive(&mut self, packet: &Incoming) {
        if let Incoming::PubAck(acknowledgement) = packet {
            self.acknowledge(acknowledgement);
        } else if let Incoming::Publish(publish) = packet {
            self.desire(publish);
        } else if let Incoming::SubAck(acknowledgement) = packet {
            subscription::look_at(acknowledgement);
        } else if let Incoming::ConnAck(_) = packet {
            self.connected = true;
            self.answered = true;
            self.greets = true;
            let unacknowledged = self.ledger.unacknowledged();
            let client_id = self.options.client_id();
            info!(client_id, unacknowledged, "connected to the broker");
        }
    }

    /// Takes what is desired of one of its buildings. One that has said that it is gone, is.
    fn desire(&mut self, publish: &Publish) {
        let topic = std::str::from_utf8(&publish.topic);
        let Some(building) = topic.ok().and_then(MqttTopic::parse_desired) else {
            return;
        };
        let now = match self.pace {
            Pace::Realtime => Some(Timestamp::from_micros((self.now)())),
            Pace::AsFastAsPossible { .. } => None,
        };
        if !self.farewell {
            let report = self.plan.desire(building, &publish.payload, now);
            self.reports.extend(report);
        }
    }

    fn acknowledge(&mut self, acknowledgement: &PubAck) {
        self.answered = true;
        if !self.ledger.acknowledge(acknowledgement.pkid) {
            return;
        }
        self.counts.acknowledged += 1;
        match acknowledgement.reason {
            PubAckReason::Success => {}
            PubAckReason::NoMatchingSubscribers => self.counts.unheard += 1,
            PubAckReason::UnspecifiedError
            | PubAckReason::ImplementationSpecificError
            | PubAckReason::NotAuthorized
            | PubAckReason::TopicNameInvalid
            | PubAckReason::PacketIdentifierInUse
            | PubAckReason::QuotaExceeded
            | PubAckReason::PayloadFormatInvalid => {
                if self.counts.refused == 0 {
                    warn!(reason = ?acknowledgement.reason, "broker refuses publications");
                }
                self.counts.refused += 1;
            }
        }
    }

    /// Notices that the broker has fallen silent, or that it is time to go.
    fn look_around(&mut self, silent_since: &mut Instant) -> Option<End> {
        let now = Instant::now();
        if self.leave_at.is_some_and(|leave_at| leave_at <= now) {
            return Some(End::Done);
        }
        if std::mem::take(&mut self.answered) {
            *silent_since = now;
        }
        let silence = now - *silent_since;
        (silence >= self.acknowledgement_timeout).then(|| {
            let seconds = silence.as_secs_f32();
            End::Lost(format!("nothing acknowledged for {seconds:.1} seconds"))
        })
    }
}

/// Moves the alarm forward when something is due before it.
fn set_earlier(alarm: Pin<&mut Sleep>, micros_left: i64) {
    let left = Duration::from_micros(u64::try_from(micros_left).unwrap_or(0));
    if left < LOOK_AROUND {
        let due = Instant::now() + left;
        if due < alarm.deadline() {
            alarm.reset(due);
        }
    }
}
