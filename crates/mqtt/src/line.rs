//! One connection to a broker, from its CONNECT to its end, for a client that acknowledges by itself.
//!
//! rumqttc writes MQTT's packets and reads them; what its own event loop does not offer is here: everything that has come
//! is handed out before anything is waited for, what is to be sent is written as one run, and reading can be left off, so
//! that a broker that sends more than may be in flight is held up and not buffered. Waiting can be given up at
//! any moment: what was moved until then stays moved.

mod socket;

use crate::Broker;
use bytes::{Buf as _, BytesMut};
use rumqttc::v5::mqttbytes::Error as Malformed;
use rumqttc::v5::mqttbytes::v5::{
    ConnAck, Connect, ConnectProperties, ConnectReturnCode, Disconnect, DisconnectReasonCode,
    Filter, Login, Packet, PingReq, PubAck, Subscribe, Unsubscribe,
};
use socket::Socket;
use std::future::poll_fn;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::io::AsyncWrite as _;
use tokio::time::{Instant, timeout};

/// How long the broker may take from the first packet of TCP to its CONNACK.
const CONNECT_WITHIN: Duration = Duration::from_secs(5);

/// What is read at once, in bytes: some hundred records. Payloads are parts of what was read, so this much may stay as
/// long as one of them does.
const READ_BYTES: usize = 64 * 1024;

/// The session that a connection takes up or begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Session {
    /// Names it.
    pub client_id: String,
    /// Whether an earlier one is forgotten.
    pub clean_start: bool,
    /// How long the broker keeps it after the connection, in seconds.
    pub expiry_seconds: u32,
    /// Messages that await our acknowledgement, at most; at least 1.
    pub receive_maximum: u16,
    /// The largest packet that we take, in bytes.
    pub largest_packet_bytes: u32,
    /// The longest time without a packet of ours; the broker may ask for less.
    pub keep_alive: Duration,
}

/// What [`Line::turn`] has done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Turned {
    /// Something has come.
    Read,
    /// All that was to be sent is sent.
    Written,
}

/// A connection whose CONNECT was accepted.
pub struct Line {
    socket: Socket,
    incoming: BytesMut,
    outgoing: BytesMut,
    /// Whether the socket may hold back what was written to it.
    unflushed: bool,
    largest_packet_bytes: u32,
    keep_alive: Duration,
    written_at: Instant,
    last_identifier: u16,
}

impl Line {
    /// Connects, and waits for the broker's answer.
    ///
    /// # Errors
    /// Why there is no connection, in words without a login.
    pub async fn connect(broker: &Broker, session: &Session) -> Result<(Self, ConnAck), String> {
        let connected = timeout(CONNECT_WITHIN, connect(broker, session)).await;
        connected.unwrap_or_else(|_| {
            let seconds = CONNECT_WITHIN.as_secs();
            Err(format!("no connection within {seconds} s"))
        })
    }

    /// The next packet of those that have come; none when there is no whole one.
    ///
    /// # Errors
    /// Bytes that are no packet, or one that is too large.
    pub fn packet(&mut self) -> Result<Option<Packet>, String> {
        match Packet::read(&mut self.incoming, Some(self.largest_packet_bytes)) {
            Ok(packet) => Ok(Some(packet)),
            Err(Malformed::InsufficientBytes(_)) => Ok(None),
            Err(error) => Err(format!("the broker sends what is no packet: {error}")),
        }
    }

    /// Waits until something has come, if `reads`, or everything is sent that was to be. May be given up at any moment.
    ///
    /// # Errors
    /// The end of the connection.
    pub async fn turn(&mut self, reads: bool) -> Result<Turned, String> {
        poll_fn(|context| self.poll_turn(context, reads))
            .await
            .map_err(|error| error.to_string())
    }

    fn poll_turn(
        &mut self,
        context: &mut Context<'_>,
        reads: bool,
    ) -> Poll<std::io::Result<Turned>> {
        let had_to_write = self.has_unwritten();
        if had_to_write && self.poll_write(context)?.is_ready() {
            return Poll::Ready(Ok(Turned::Written));
        }
        if reads && self.poll_read(context)?.is_ready() {
            return Poll::Ready(Ok(Turned::Read));
        }
        Poll::Pending
    }

    fn poll_write(&mut self, context: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        while !self.outgoing.is_empty() {
            let socket = Pin::new(&mut self.socket);
            let written = std::task::ready!(socket.poll_write(context, &self.outgoing))?;
            if written == 0 {
                return Poll::Ready(Err(std::io::ErrorKind::WriteZero.into()));
            }
            self.outgoing.advance(written);
            self.unflushed = true;
            self.written_at = Instant::now();
        }
        if self.unflushed {
            std::task::ready!(Pin::new(&mut self.socket).poll_flush(context))?;
            self.unflushed = false;
        }
        Poll::Ready(Ok(()))
    }

    fn poll_read(&mut self, context: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        self.incoming.reserve(READ_BYTES / 2);
        let socket = Pin::new(&mut self.socket);
        let read = std::task::ready!(tokio_util::io::poll_read_buf(
            socket,
            context,
            &mut self.incoming
        ))?;
        if read == 0 {
            let ended = "the broker has ended the connection";
            return Poll::Ready(Err(std::io::Error::new(
                std::io::ErrorKind::UnexpectedEof,
                ended,
            )));
        }
        Poll::Ready(Ok(()))
    }

    /// Whether something is to be sent yet.
    #[must_use]
    pub fn has_unwritten(&self) -> bool {
        self.unflushed || !self.outgoing.is_empty()
    }

    /// Sends an acknowledgement, with the next [`Line::turn`]. This and all below cannot fail: their packets have one length that is
    /// always right.
    pub fn acknowledge(&mut self, packet_identifier: u16) {
        self.send(&Packet::PubAck(PubAck::new(packet_identifier, None)));
    }

    /// Asks for subscriptions.
    pub fn subscribe(&mut self, filters: Vec<Filter>) {
        let mut subscribe = Subscribe::new_many(filters, None);
        subscribe.pkid = self.next_identifier();
        self.send(&Packet::Subscribe(subscribe));
    }

    /// Gives one subscription back.
    pub fn unsubscribe(&mut self, filter: &str) {
        let mut unsubscribe = Unsubscribe::new(filter, None);
        unsubscribe.pkid = self.next_identifier();
        self.send(&Packet::Unsubscribe(unsubscribe));
    }

    /// Asks for a sign of life.
    pub fn ping(&mut self) {
        self.send(&Packet::PingReq(PingReq));
    }

    /// Pings if nothing was sent for half of what the broker bears.
    pub fn keep_alive(&mut self) {
        if !self.has_unwritten() && self.written_at.elapsed() >= self.keep_alive / 2 {
            self.ping();
        }
    }

    /// Says farewell; the session stays for as long as it was said.
    pub fn disconnect(&mut self) {
        let farewell = Disconnect::new(DisconnectReasonCode::NormalDisconnection);
        self.send(&Packet::Disconnect(farewell));
    }

    fn send(&mut self, packet: &Packet) {
        if let Err(error) = packet.write(&mut self.outgoing, None) {
            tracing::error!(%error, "a packet cannot be written");
        }
    }

    fn next_identifier(&mut self) -> u16 {
        self.last_identifier = self.last_identifier.checked_add(1).unwrap_or(1);
        self.last_identifier
    }
}

async fn connect(broker: &Broker, session: &Session) -> Result<(Line, ConnAck), String> {
    let mut line = Line {
        socket: Socket::open(broker).await?,
        incoming: BytesMut::with_capacity(READ_BYTES),
        outgoing: BytesMut::new(),
        unflushed: false,
        largest_packet_bytes: session.largest_packet_bytes,
        keep_alive: session.keep_alive,
        written_at: Instant::now(),
        last_identifier: 0,
    };
    line.send(&connect_packet(broker, session));
    loop {
        match line.packet()? {
            Some(Packet::ConnAck(answer)) if answer.code == ConnectReturnCode::Success => {
                let offered = answer.properties.as_ref();
                let seconds = offered.and_then(|it| it.server_keep_alive);
                // Zero is none at all.
                if let Some(seconds) = seconds.filter(|it| *it > 0) {
                    line.keep_alive = Duration::from_secs(seconds.into());
                }
                return Ok((line, answer));
            }
            Some(Packet::ConnAck(answer)) => {
                return Err(format!("connection refused: {:?}", answer.code));
            }
            Some(_) => return Err("the broker answers with another packet than CONNACK".to_owned()),
            None => {
                line.turn(true).await?;
            }
        }
    }
}

fn connect_packet(broker: &Broker, session: &Session) -> Packet {
    let properties = ConnectProperties {
        session_expiry_interval: Some(session.expiry_seconds),
        receive_maximum: Some(session.receive_maximum.max(1)),
        max_packet_size: Some(session.largest_packet_bytes),
        ..ConnectProperties::new()
    };
    let connect = Connect {
        keep_alive: u16::try_from(session.keep_alive.as_secs()).unwrap_or(u16::MAX),
        client_id: session.client_id.clone(),
        clean_start: session.clean_start,
        properties: Some(properties),
    };
    let login = broker.address.login.as_ref();
    let login = login.map(|(user, password)| Login::new(user.as_str(), password.as_str()));
    Packet::Connect(connect, None, login)
}

#[cfg(test)]
mod tests;
