//! A client of the broker that says what it wants, byte by byte: the hostile ones do.

use std::io;
use testkit::{ShippedBroker, Socket};

/// "MQTT 5" and "MQTT 3.1.1" as they are written.
const V5: u8 = 5;
const V311: u8 = 4;

/// What a broker says to who may not.
pub(crate) const NOT_AUTHORISED: u8 = 0x87;

/// How a client introduces itself; its password is the shipped broker's.
#[derive(Clone, Debug)]
pub(crate) struct Connect {
    pub(crate) level: u8,
    pub(crate) client_id: String,
    pub(crate) user: String,
    pub(crate) clean_start: bool,
    /// How long the session is kept, in seconds; MQTT 5 only.
    pub(crate) expiry_s: u32,
    /// Topic and payload of a last will.
    pub(crate) will: Option<(String, Vec<u8>)>,
}

impl Connect {
    /// A client of MQTT 5 with a session that ends with its connection.
    pub(crate) fn v5(user: &str) -> Self {
        Self {
            level: V5,
            client_id: "any".to_owned(),
            user: user.to_owned(),
            clean_start: true,
            expiry_s: 0,
            will: None,
        }
    }

    /// The same of MQTT 3.1.1.
    pub(crate) fn v311(user: &str) -> Self {
        Self {
            level: V311,
            ..Self::v5(user)
        }
    }

    fn packet(&self) -> Vec<u8> {
        let mut flags = 0b1100_0000 | u8::from(self.clean_start) << 1;
        if self.will.is_some() {
            // Retained, at least once.
            flags |= 0b0010_1100;
        }
        let mut body = [b"\x00\x04MQTT", &[self.level, flags, 0, 60][..]].concat();
        if self.level == V5 {
            body.extend([5, 0x11]);
            body.extend(self.expiry_s.to_be_bytes());
        }
        body.extend(text(self.client_id.as_bytes()));
        if let Some((topic, payload)) = &self.will {
            if self.level == V5 {
                body.push(0);
            }
            body.extend(text(topic.as_bytes()));
            body.extend(text(payload));
        }
        body.extend(text(self.user.as_bytes()));
        body.extend(text(b"secret"));
        packet(0x10, &body)
    }
}

/// Why there is no acknowledgement: the broker's reason, where it gave one before it closed.
pub(crate) type Refusal = Option<u8>;

/// A connection to a broker.
pub(crate) struct Wire {
    pub(crate) socket: Socket,
    level: u8,
    identifier: u16,
}

impl Wire {
    /// A connection of a controller, over TLS as the shipped broker has it.
    pub(crate) async fn controller(broker: &ShippedBroker, connect: &Connect) -> Self {
        Self::attempt(broker, connect).await.unwrap()
    }

    /// The same where the broker may refuse it.
    pub(crate) async fn attempt(
        broker: &ShippedBroker,
        connect: &Connect,
    ) -> Result<Self, Refusal> {
        let socket = Socket::secure(broker.controllers_port(), &broker.authority).await;
        let mut wire = Self {
            socket: socket.unwrap(),
            level: connect.level,
            identifier: 0,
        };
        wire.write(&connect.packet()).await.map_err(|_| None)?;
        match wire.read().await {
            Ok((0x20, answer)) if answer[1] == 0 => Ok(wire),
            Ok((_, answer)) => Err(answer.get(1).copied()),
            Err(_) => Err(None),
        }
    }

    /// Publishes with QoS 1 and answers with the reason code of the acknowledgement.
    pub(crate) async fn publish(&mut self, topic: &str, payload: &[u8]) -> Result<u8, Refusal> {
        self.publish_as(topic, payload, 1, false).await
    }

    /// The same, with this QoS above 0, retained or not.
    pub(crate) async fn publish_as(
        &mut self,
        topic: &str,
        payload: &[u8],
        qos: u8,
        retain: bool,
    ) -> Result<u8, Refusal> {
        let packet = self.publication(topic, payload, qos, retain);
        self.write(&packet).await.map_err(|_| None)?;
        let answer = self.acknowledgement(0x40).await?;
        Ok(answer.get(2).copied().unwrap_or(0))
    }

    /// A packet with a message, with the next identifier.
    pub(crate) fn publication(
        &mut self,
        topic: &str,
        payload: &[u8],
        qos: u8,
        retain: bool,
    ) -> Vec<u8> {
        self.identifier = self.identifier.wrapping_add(1).max(1);
        let mut body = text(topic.as_bytes());
        body.extend(self.identifier.to_be_bytes());
        if self.level == V5 {
            body.push(0);
        }
        body.extend(payload);
        packet(0x30 | qos << 1 | u8::from(retain), &body)
    }

    /// Subscribes to a filter and answers with the reason code.
    pub(crate) async fn subscribe(&mut self, filter: &str) -> Result<u8, Refusal> {
        let mut body = vec![0, 7];
        if self.level == V5 {
            body.push(0);
        }
        body.extend(text(filter.as_bytes()));
        body.push(1);
        self.write(&packet(0x82, &body)).await.map_err(|_| None)?;
        let answer = self.acknowledgement(0x90).await?;
        Ok(*answer.last().unwrap())
    }

    /// Whether the connection is alive, and nothing but the answer to this question comes.
    pub(crate) async fn hears_nothing(&mut self) -> bool {
        self.write(&packet(0xc0, b"")).await.is_ok() && matches!(self.read().await, Ok((0xd0, _)))
    }

    /// Reads one packet: its first byte and its body.
    pub(crate) async fn read(&mut self) -> io::Result<(u8, Vec<u8>)> {
        let kind = self.socket.receive(1).await?[0];
        let (mut length, mut shift) = (0, 0);
        loop {
            let byte = self.socket.receive(1).await?[0];
            length |= usize::from(byte & 0x7f) << shift;
            shift += 7;
            if byte < 0x80 {
                return Ok((kind, self.socket.receive(length).await?));
            }
        }
    }

    /// Writes bytes as they are.
    pub(crate) async fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.socket.send_bytes(bytes).await
    }

    /// The next packet of this kind; messages before it are passed over.
    async fn acknowledgement(&mut self, kind: u8) -> Result<Vec<u8>, Refusal> {
        loop {
            match self.read().await {
                Ok((found, body)) if found == kind => return Ok(body),
                Ok((0xe0, body)) => return Err(body.first().copied()),
                Ok(_) => {}
                Err(_) => return Err(None),
            }
        }
    }
}

/// A packet with its length.
pub(crate) fn packet(kind: u8, body: &[u8]) -> Vec<u8> {
    let mut packet = vec![kind];
    let mut rest = body.len();
    loop {
        let seven = u8::try_from(rest % 128).unwrap();
        rest /= 128;
        packet.push(if rest > 0 { seven | 0x80 } else { seven });
        if rest == 0 {
            break;
        }
    }
    packet.extend(body);
    packet
}

/// A text with its length.
pub(crate) fn text(text: &[u8]) -> Vec<u8> {
    let length = u16::try_from(text.len()).unwrap();
    [&length.to_be_bytes(), text].concat()
}
