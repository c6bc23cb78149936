//! One connection to the broker, with a client of its own: nothing of an old connection reaches a new one.

use crate::config::{CONFIRMED_WITHIN, IN_FLIGHT, OUTBOX_INTERVAL, VIGIL_INTERVAL};
use crate::in_flight::InFlight;
use crate::publisher::{Publisher, payload};
use mqtt::{Vigil, Watched};
use ops::shutdown::Shutdown;
use rumqttc::Outgoing;
use rumqttc::v5::mqttbytes::QoS;
use rumqttc::v5::mqttbytes::v5::{ConnAck, Packet};
use rumqttc::v5::{AsyncClient, ConnectionError, Event, EventLoop};
use std::pin::pin;
use std::sync::Arc;
use std::time::{Duration, Instant as StdInstant};
use tokio::select;
use tokio::time::{Instant, MissedTickBehavior, interval, sleep_until};
use wire::topic::MqttTopic;

/// How a connection ended.
pub(crate) enum Ended {
    /// As it was told.
    Stopped,
    /// By something else.
    Lost(String),
}

/// A topic and the packet around the payload, at most.
const AROUND_PAYLOAD_BYTES: usize = 128;

struct Session {
    client: AsyncClient,
    in_flight: Option<InFlight>,
    /// Whether the broker has taken us.
    connected: bool,
    vigil: Vigil,
    /// The largest packet that the broker takes.
    largest_packet_bytes: usize,
    /// When the outbox is looked at, told or not.
    next_look: Instant,
    /// Whether it is to stop once all are confirmed.
    stopping: bool,
}

/// Publishes over one connection, until it is lost or `shutdown`.
pub(crate) async fn run(publisher: &mut Publisher, shutdown: &Shutdown) -> Ended {
    // A whole batch, a question and a farewell.
    let capacity = usize::from(IN_FLIGHT) + 2;
    let (client, eventloop) = AsyncClient::new(publisher.options.clone(), capacity);
    let mut session = Session {
        client,
        in_flight: None,
        connected: false,
        vigil: Vigil::new(StdInstant::now()),
        largest_packet_bytes: usize::MAX,
        next_look: Instant::now(),
        stopping: false,
    };
    let ended = session.publish(eventloop, publisher, shutdown).await;
    if let Some(in_flight) = session.in_flight.take() {
        publisher.lose(in_flight).await;
    }
    ended
}

impl Session {
    async fn publish(
        &mut self,
        mut eventloop: EventLoop,
        publisher: &mut Publisher,
        shutdown: &Shutdown,
    ) -> Ended {
        let wakeup = Arc::clone(&publisher.wakeup);
        let mut looks = interval(VIGIL_INTERVAL);
        looks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            // The poll is not dropped before it is ready: it may be in the middle of a packet.
            let mut poll = pin!(eventloop.poll());
            let event = loop {
                if self.stopping && self.in_flight.is_none() {
                    // Without a farewell: no last will depends on it.
                    return Ended::Stopped;
                }
                let idle = self.connected && self.in_flight.is_none();
                select! {
                    event = &mut poll => break event,
                    () = wakeup.notified(), if idle => self.hand_over(publisher).await,
                    () = sleep_until(self.next_look), if idle => self.hand_over(publisher).await,
                    () = sleep_until(self.overdue()), if self.in_flight.is_some() => {
                        let cause = "the broker does not confirm what is published";
                        return Ended::Lost(cause.to_owned());
                    }
                    _ = looks.tick(), if self.connected => {
                        if let Err(cause) = self.keep_vigil(publisher) {
                            return Ended::Lost(cause);
                        }
                    }
                    () = shutdown.requested(), if !self.stopping => self.stopping = true,
                }
            };
            if let Err(ended) = self.receive(event, publisher).await {
                return ended;
            }
        }
    }

    /// Asks a broker that is quiet for a sign of life, and tells how it is.
    fn keep_vigil(&mut self, publisher: &Publisher) -> Result<(), String> {
        match self.vigil.look(StdInstant::now()) {
            Watched::Well { asked: false } => publisher.answering(),
            Watched::Well { asked: true } => {}
            Watched::Ask => {
                let asked = self.client.try_unsubscribe(mqtt::QUESTION);
                asked.map_err(|error| format!("cannot ask: {error}"))?;
            }
            // The keep-alive ends the connection, should it last.
            Watched::Silent => publisher.silent(&Vigil::cause()),
        }
        Ok(())
    }

    fn overdue(&self) -> Instant {
        let since = self
            .in_flight
            .as_ref()
            .map_or_else(Instant::now, |it| it.since);
        since + CONFIRMED_WITHIN
    }

    async fn receive(
        &mut self,
        event: Result<Event, ConnectionError>,
        publisher: &mut Publisher,
    ) -> Result<(), Ended> {
        if matches!(event, Ok(Event::Incoming(_))) {
            self.vigil.hear(StdInstant::now());
        }
        match event {
            Ok(Event::Incoming(Packet::ConnAck(answer))) => {
                self.connected = true;
                self.largest_packet_bytes = largest_packet_bytes(&answer);
                publisher.judge(&answer);
                publisher.connected(answer.session_present);
            }
            Ok(Event::Incoming(Packet::PubAck(answer))) => {
                if let Some(in_flight) = &mut self.in_flight {
                    in_flight.answered(answer.pkid, answer.reason);
                }
                self.finish(publisher).await;
            }
            Ok(Event::Outgoing(Outgoing::Publish(packet_identifier))) => {
                if let Some(in_flight) = &mut self.in_flight {
                    in_flight.wrote(packet_identifier);
                }
            }
            Ok(Event::Incoming(_) | Event::Outgoing(_)) => {}
            Err(error) => return Err(Ended::Lost(error.to_string())),
        }
        Ok(())
    }

    /// Once all are answered: notes it, and looks for more.
    async fn finish(&mut self, publisher: &mut Publisher) {
        if let Some(complete) = self.in_flight.take_if(|it| it.is_complete()) {
            publisher.confirm(complete).await;
            self.next_look = Instant::now();
        }
    }

    /// Takes what is to be published and hands it to the client.
    async fn hand_over(&mut self, publisher: &mut Publisher) {
        self.next_look = Instant::now() + OUTBOX_INTERVAL;
        let mut in_flight = match publisher.claim().await {
            Ok(Some(in_flight)) => in_flight,
            Ok(None) => return,
            Err(wait) => {
                self.next_look = Instant::now() + wait;
                return;
            }
        };
        let publications = in_flight.publishing().publications().iter();
        let messages: Vec<_> = publications
            .map(|it| (MqttTopic::desired(it.building), payload(it)))
            .collect();
        for (place, (topic, payload)) in messages.into_iter().enumerate() {
            if payload.len() + AROUND_PAYLOAD_BYTES > self.largest_packet_bytes {
                let bytes = payload.len();
                in_flight.refuse(
                    place,
                    format!("{bytes} bytes are larger than the broker takes"),
                );
            } else if let Err(error) =
                self.client
                    .try_publish(topic.as_str(), QoS::AtLeastOnce, true, payload)
            {
                // The client's queue holds a whole batch, so this is a topic that it does not take.
                in_flight.refuse(place, format!("cannot be published: {error}"));
            } else {
                in_flight.hand(place);
            }
        }
        self.in_flight = Some(in_flight);
        self.finish(publisher).await;
        if self.in_flight.is_none() {
            // Nothing could be handed over: no reason to try again at once.
            self.next_look = Instant::now() + Duration::from_secs(1);
        }
    }
}

fn largest_packet_bytes(answer: &ConnAck) -> usize {
    let told = answer.properties.as_ref().and_then(|it| it.max_packet_size);
    told.and_then(|bytes| usize::try_from(bytes).ok())
        .unwrap_or(usize::MAX)
}
