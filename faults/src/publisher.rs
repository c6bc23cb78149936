//! A controller's side: publishes with QoS 1 until each message is acknowledged, and keeps its own book.

use crate::ledger::Ledger;
use crate::load::{Load, Message};
use rumqttc::Outgoing;
use rumqttc::v5::mqttbytes::QoS;
use rumqttc::v5::mqttbytes::v5::{Packet, PubAck, PubAckReason};
use rumqttc::v5::{AsyncClient, Event, MqttOptions};
use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;
use tokio::time::{Instant, MissedTickBehavior};

/// Unacknowledged messages of a connection, at most.
const WINDOW: usize = 100;
/// Without an acknowledgement for so long the connection is given up.
const SILENCE: Duration = Duration::from_secs(8);
/// Fast enough for a few hundred messages, slow enough for everybody.
const PER_SECOND_AT_ONCE: f64 = 200.0;
const RECONNECT: Duration = Duration::from_millis(200);

/// What all publishers of a run share.
#[derive(Clone, Debug, Default)]
pub(crate) struct Publishing {
    pub(crate) ledger: Ledger,
    /// Set when nothing new is to be published any more.
    pub(crate) stopping: Arc<AtomicBool>,
    /// How often the broker said that it had no subscriber for a message: it keeps it for nobody, so it is published
    /// again. Mosquitto forgets shared subscriptions when it restarts, until their clients are back.
    pub(crate) unheard: Arc<AtomicU64>,
}

/// Publishes `per_second` messages of `load` over one connection after the other, until told to stop and all of them
/// are acknowledged.
pub(crate) async fn publish(port: u16, mut load: Load, per_second: f64, publishing: Publishing) {
    let mut waiting = VecDeque::new();
    let mut session = 0;
    loop {
        session += 1;
        let mut connection = Connection {
            publishing: &publishing,
            handed: VecDeque::new(),
            in_flight: HashMap::new(),
            refused: Vec::new(),
            heard: Instant::now(),
        };
        let over = connection
            .run(port, &mut load, &mut waiting, per_second, session)
            .await;
        // In the order in which they were handed over, as far as that is known.
        let mut left: Vec<(u16, Message)> = connection.in_flight.drain().collect();
        left.sort_by_key(|(number, _)| *number);
        for message in connection.handed.drain(..).rev() {
            waiting.push_front(message);
        }
        for (_, message) in left.into_iter().rev() {
            waiting.push_front(message);
        }
        if over {
            return;
        }
        tokio::time::sleep(RECONNECT).await;
    }
}

/// Publishes these messages and returns when all of them are acknowledged.
pub(crate) async fn publish_all(port: u16, messages: Vec<Message>, publishing: Publishing) {
    publishing.stopping.store(true, Ordering::SeqCst);
    let load = Load::of(messages);
    publish(port, load, PER_SECOND_AT_ONCE, publishing).await;
}

struct Connection<'a> {
    publishing: &'a Publishing,
    /// Given to the client library, which has not given them a number yet.
    handed: VecDeque<Message>,
    in_flight: HashMap<u16, Message>,
    /// What the broker acknowledged with a refusal.
    refused: Vec<Message>,
    heard: Instant,
}

impl Connection<'_> {
    /// Answers whether everything is done; otherwise the connection is lost.
    async fn run(
        &mut self,
        port: u16,
        load: &mut Load,
        waiting: &mut VecDeque<Message>,
        per_second: f64,
        session: u64,
    ) -> bool {
        let client_id = format!("controllers-{port}-{session}-{}", uuid::Uuid::new_v4());
        let mut options = MqttOptions::new(client_id, "127.0.0.1", port);
        options.set_keep_alive(Duration::from_secs(5));
        options.set_clean_start(true);
        let (client, mut events) = AsyncClient::new(options, 2 * WINDOW);
        let mut ticks = tokio::time::interval(Duration::from_secs_f64(1.0 / per_second));
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            let stopping = self.publishing.stopping.load(Ordering::SeqCst);
            if stopping {
                waiting.extend(load.rest());
            }
            waiting.extend(self.refused.drain(..));
            let outstanding = self.handed.len() + self.in_flight.len();
            if stopping && waiting.is_empty() && outstanding == 0 {
                return true;
            }
            if outstanding == 0 {
                self.heard = Instant::now();
            }
            let room = outstanding < WINDOW;
            tokio::select! {
                event = events.poll() => match event {
                    Ok(event) => self.take(event),
                    Err(_) => return false,
                },
                _ = ticks.tick(), if room && (!stopping || !waiting.is_empty()) => {
                    let fresh = || load.next(ops::clock::Clock::system().now_micros());
                    let message = waiting.pop_front().unwrap_or_else(fresh);
                    self.hand_over(&client, message);
                }
                () = tokio::time::sleep_until(self.heard + SILENCE) => return false,
            }
        }
    }

    fn hand_over(&mut self, client: &AsyncClient, message: Message) {
        self.publishing.ledger.sent(message.identity, message.fact);
        let payload = message.payload.clone().into_bytes();
        // The queue holds more than the window, so it always takes one.
        let taken = client.try_publish(&message.topic, QoS::AtLeastOnce, false, payload);
        taken.unwrap();
        self.handed.push_back(message);
    }

    fn take(&mut self, event: Event) {
        match event {
            Event::Outgoing(Outgoing::Publish(number)) => {
                if let Some(message) = self.handed.pop_front() {
                    self.in_flight.insert(number, message);
                }
            }
            Event::Incoming(Packet::PubAck(acknowledged)) => self.acknowledge(&acknowledged),
            Event::Outgoing(_) | Event::Incoming(_) => {}
        }
    }

    fn acknowledge(&mut self, acknowledged: &PubAck) {
        self.heard = Instant::now();
        let Some(message) = self.in_flight.remove(&acknowledged.pkid) else {
            return;
        };
        match acknowledged.reason {
            PubAckReason::Success => self.publishing.ledger.acknowledged(message.identity),
            PubAckReason::NoMatchingSubscribers => {
                self.publishing.unheard.fetch_add(1, Ordering::SeqCst);
                self.refused.push(message);
            }
            PubAckReason::UnspecifiedError
            | PubAckReason::ImplementationSpecificError
            | PubAckReason::NotAuthorized
            | PubAckReason::TopicNameInvalid
            | PubAckReason::PacketIdentifierInUse
            | PubAckReason::QuotaExceeded
            | PubAckReason::PayloadFormatInvalid => self.refused.push(message),
        }
    }
}
