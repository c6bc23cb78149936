//! The loop against a broker that follows a script, for what no real broker does on demand.

mod patience;

use super::*;
use crate::log::Letter;
use crate::{DirectLog, Handover};
use bytes::BytesMut;
use ops::clock::Clock;
use ops::health::Health;
use ops::metrics::Metrics;
use rumqttc::v5::mqttbytes::QoS;
use rumqttc::v5::mqttbytes::v5::{
    ConnAck, ConnectReturnCode, Packet, Publish, SubAck, SubscribeReasonCode,
};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc::{Receiver, channel};
use tokio::task::JoinSet;
use tokio::time::timeout;
use wire::topic::RecordKind;

const TOPIC: &str = "v1/buildings/6f1f0a0e-2c7c-4c67-9e0b-3a5d2a0f9b11/presence";
const SOON: Duration = Duration::from_secs(5);
const QUIET: Duration = Duration::from_millis(100);

struct Stage {
    listener: TcpListener,
    handovers: Receiver<Handover>,
    metrics: Metrics,
    health: Health,
    shutdown: Shutdown,
    bridge: JoinSet<Result<(), Fatal>>,
}

impl Stage {
    async fn new() -> Self {
        Self::with_share_group(None).await
    }

    async fn with_share_group(share_group: Option<String>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let (sender, handovers) = channel(100);
        let config = Config {
            mqtt_url: format!("mqtt://{}", listener.local_addr().unwrap()),
            client_id: "bridge".to_owned(),
            share_group,
            receive_maximum: 10,
            building_message_limit: 0,
            kinds: vec![RecordKind::Presence],
            leave: false,
        };
        let (metrics, health, shutdown) = (Metrics::new(), Health::new(), Shutdown::new());
        let handles = Handles {
            metrics: metrics.clone(),
            health: health.clone(),
            clock: Clock::manual(1_700_000_000_000_000),
        };
        let mut bridge = JoinSet::new();
        let log = Log::Direct(DirectLog::new(sender));
        bridge.spawn(run(config, log, handles, shutdown.clone()));
        Self {
            listener,
            handovers,
            metrics,
            health,
            shutdown,
            bridge,
        }
    }

    /// Accepts a connection and its subscription.
    async fn connection(&self) -> Broker {
        let mut broker = self.greeted().await;
        broker.grant().await;
        broker
    }

    /// Accepts a connection.
    async fn greeted(&self) -> Broker {
        let accepted = timeout(SOON, self.listener.accept()).await.unwrap();
        let mut broker = Broker {
            socket: accepted.unwrap().0,
            read: BytesMut::new(),
        };
        assert!(matches!(broker.next().await, Some(Packet::Connect(..))));
        let greeting = ConnAck {
            session_present: true,
            code: ConnectReturnCode::Success,
            properties: None,
        };
        broker.send(&[Packet::ConnAck(greeting)]).await;
        broker
    }

    async fn handover(&mut self) -> Handover {
        timeout(SOON, self.handovers.recv()).await.unwrap().unwrap()
    }

    async fn ended(&mut self) -> Result<(), Fatal> {
        let ended = timeout(SOON, self.bridge.join_next()).await.unwrap();
        ended.unwrap().unwrap()
    }

    fn count(&self, series: &str) -> u64 {
        let text = self.metrics.render();
        let prefix = format!("wattline_bridge_{series} ");
        let mut values = text.lines().filter_map(|line| line.strip_prefix(&prefix));
        values.next().unwrap().parse().unwrap()
    }

    fn assert_conservation(&self) {
        let after = [
            "forwarded_messages_total",
            "abandoned_messages_total",
            "in_flight_messages",
        ];
        let sum: u64 = after.iter().map(|series| self.count(series)).sum();
        assert_eq!(self.count("received_messages_total"), sum);
    }
}

struct Broker {
    socket: TcpStream,
    read: BytesMut,
}

impl Broker {
    /// Grants a subscription; tells to what.
    async fn grant(&mut self) -> String {
        let Some(Packet::Subscribe(subscribe)) = self.next().await else {
            panic!("no subscription");
        };
        let answer = SubAck {
            pkid: subscribe.pkid,
            return_codes: vec![SubscribeReasonCode::Success(QoS::AtLeastOnce)],
            properties: None,
        };
        self.send(&[Packet::SubAck(answer)]).await;
        subscribe.filters[0].path.clone()
    }

    async fn send(&mut self, packets: &[Packet]) {
        let mut bytes = BytesMut::new();
        for packet in packets {
            packet.write(&mut bytes, None).unwrap();
        }
        self.socket.write_all(&bytes).await.unwrap();
    }

    async fn publish(&mut self, identifiers: std::ops::RangeInclusive<u16>) {
        let packets: Vec<_> = identifiers.map(publish).collect();
        self.send(&packets).await;
    }

    /// The next packet; none when the connection is closed.
    async fn next(&mut self) -> Option<Packet> {
        loop {
            if let Ok(packet) = Packet::read(&mut self.read, None) {
                return Some(packet);
            }
            let read = timeout(SOON, self.socket.read_buf(&mut self.read)).await;
            if read.unwrap().unwrap_or(0) == 0 {
                return None;
            }
        }
    }

    async fn acknowledged(&mut self) -> u16 {
        loop {
            match self.next().await {
                Some(Packet::PubAck(acknowledgement)) => return acknowledgement.pkid,
                // A sign of life may come at any time.
                Some(Packet::PingReq(_)) => {}
                other => panic!("{other:?} is no acknowledgement"),
            }
        }
    }

    /// A normal DISCONNECT, which keeps the session, and then the end of the connection.
    async fn assert_farewell(&mut self) {
        let rest = self.socket.read_buf(&mut self.read);
        timeout(SOON, rest).await.unwrap().unwrap();
        while self.socket.read_buf(&mut self.read).await.unwrap() > 0 {}
        assert_eq!(self.read.as_ref(), [0xE0, 0x00]);
    }

    async fn assert_silent(&mut self) {
        let packet = timeout(QUIET, self.next()).await;
        assert!(packet.is_err(), "{packet:?}");
    }
}

fn publish(identifier: u16) -> Packet {
    let mut publish = Publish::new(TOPIC, QoS::AtLeastOnce, payload(identifier), None);
    publish.pkid = identifier;
    Packet::Publish(publish)
}

fn payload(identifier: u16) -> String {
    format!(r#"{{"online": true, "n": {identifier}}}"#)
}

fn assert_carries(handover: &Handover, identifier: u16) {
    let Letter::Record(message) = &handover.letter else {
        panic!("refused: {:?}", handover.letter);
    };
    assert_eq!(message.payload, payload(identifier));
}

#[tokio::test]
async fn acknowledgements_follow_durability_in_order_of_arrival() {
    let mut stage = Stage::new().await;
    let mut broker = stage.connection().await;
    broker.publish(1..=3).await;
    let first = stage.handover().await;
    let second = stage.handover().await;
    let third = stage.handover().await;
    assert_carries(&third, 3);
    second.receipt.durable();
    third.receipt.durable();
    broker.assert_silent().await;
    stage.assert_conservation();
    assert_eq!(stage.count("in_flight_messages"), 3);
    first.receipt.durable();
    for identifier in 1..=3 {
        assert_eq!(broker.acknowledged().await, identifier);
    }
    assert_eq!(stage.count("forwarded_messages_total"), 3);
    stage.assert_conservation();
    assert!(stage.health.report().ready);
}

#[tokio::test]
async fn an_acknowledgement_of_an_old_connection_never_reaches_a_new_one() {
    let mut stage = Stage::new().await;
    let mut broker = stage.connection().await;
    broker.publish(1..=2).await;
    let (old_first, old_second) = (stage.handover().await, stage.handover().await);
    drop(broker);
    let mut broker = stage.connection().await;
    // The same identifiers now name other messages.
    broker.publish(1..=2).await;
    let (first, second) = (stage.handover().await, stage.handover().await);
    old_first.receipt.durable();
    drop(old_second);
    broker.assert_silent().await;
    first.receipt.durable();
    second.receipt.durable();
    assert_eq!(broker.acknowledged().await, 1);
    assert_eq!(broker.acknowledged().await, 2);
    assert_eq!(stage.count("abandoned_messages_total"), 2);
    assert_eq!(stage.count("reconnects_total"), 1);
    stage.assert_conservation();
}

#[tokio::test]
async fn messages_that_were_read_before_the_connection_broke_are_not_acknowledged_on_the_next() {
    let mut stage = Stage::new().await;
    let mut broker = stage.connection().await;
    // Publishes and, in the same read, bytes that are no packet: the client reads both, and gives
    // the error out before the publishes.
    let mut bytes = BytesMut::new();
    for identifier in 1..=3 {
        publish(identifier).write(&mut bytes, None).unwrap();
    }
    bytes.extend_from_slice(&[0x00, 0x00, 0x00, 0x00]);
    broker.socket.write_all(&bytes).await.unwrap();
    let mut broker = stage.connection().await;
    while let Ok(handover) = stage.handovers.try_recv() {
        handover.receipt.durable();
    }
    broker.assert_silent().await;
    assert_eq!(stage.count("forwarded_messages_total"), 0);
    stage.assert_conservation();
}

#[tokio::test]
async fn what_was_not_stored_is_handed_over_again_and_then_acknowledged() {
    let mut stage = Stage::new().await;
    let mut broker = stage.connection().await;
    broker.publish(1..=2).await;
    drop(stage.handover().await);
    stage.handover().await.receipt.durable();
    broker.assert_silent().await;
    let again = stage.handover().await;
    assert_carries(&again, 1);
    assert!(!stage.health.report().ready);
    again.receipt.durable();
    assert_eq!(broker.acknowledged().await, 1);
    assert_eq!(broker.acknowledged().await, 2);
    assert!(stage.health.report().ready);
    assert_eq!(stage.count("delivery_failures_total"), 1);
}

#[tokio::test]
async fn a_stop_finishes_what_is_in_flight_writes_the_acknowledgements_and_says_farewell() {
    let mut stage = Stage::new().await;
    let mut broker = stage.connection().await;
    broker.publish(1..=2).await;
    let (first, second) = (stage.handover().await, stage.handover().await);
    stage.shutdown.trigger();
    tokio::time::sleep(QUIET).await;
    // What comes now is the broker's to keep.
    broker.publish(3..=3).await;
    broker.assert_silent().await;
    first.receipt.durable();
    second.receipt.durable();
    assert_eq!(broker.acknowledged().await, 1);
    assert_eq!(broker.acknowledged().await, 2);
    broker.assert_farewell().await;
    assert_eq!(stage.ended().await, Ok(()));
    assert_eq!(stage.count("received_messages_total"), 2);
    stage.assert_conservation();
}

#[tokio::test]
async fn a_stage_that_ends_first_is_no_failure_at_a_stop_and_one_otherwise() {
    for stops in [true, false] {
        let mut stage = Stage::new().await;
        let mut broker = stage.connection().await;
        broker.publish(1..=1).await;
        let handover = stage.handover().await;
        if stops {
            stage.shutdown.trigger();
        }
        let (_, other) = channel(1);
        drop(std::mem::replace(&mut stage.handovers, other));
        drop(handover);
        assert_eq!(stage.ended().await.is_ok(), stops);
    }
}

#[tokio::test]
async fn a_broker_that_is_away_ends_nothing_and_a_stop_then_is_immediate() {
    let mut stage = Stage::new().await;
    let unused = TcpListener::bind("127.0.0.1:0").await.unwrap();
    drop(std::mem::replace(&mut stage.listener, unused));
    tokio::time::sleep(QUIET * 3).await;
    assert!(stage.bridge.try_join_next().is_none());
    assert!(!stage.health.report().ready);
    stage.shutdown.trigger();
    assert_eq!(stage.ended().await, Ok(()));
}

#[tokio::test]
async fn a_share_group_takes_the_place_of_the_plain_subscription() {
    let stage = Stage::with_share_group(Some("night".to_owned())).await;
    let mut broker = stage.greeted().await;
    let Some(Packet::Unsubscribe(given_back)) = broker.next().await else {
        panic!("the plain subscription stays");
    };
    assert_eq!(given_back.filters, ["v1/buildings/+/presence"]);
    let granted = broker.grant().await;
    assert_eq!(granted, "$share/night/v1/buildings/+/presence");
}
