//! As much of an MQTT 5 client as the tests need.

use std::{
    io::{Read, Write},
    net::TcpStream,
    time::Duration,
};

pub(crate) const SUCCESS: u8 = 0x00;
pub(crate) const NO_SUBSCRIBER: u8 = 0x10;
pub(crate) const NOT_AUTHORISED: u8 = 0x87;

pub(crate) struct Client(TcpStream);

impl Client {
    /// Connects with a clean session; gives the reason code of a refusal.
    pub(crate) fn connect(port: u16, login: Option<(&str, &str)>) -> Result<(Self, Vec<u8>), u8> {
        let stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
        stream
            .set_read_timeout(Some(Duration::from_secs(5)))
            .unwrap();
        let mut client = Self(stream);
        let flags = if login.is_some() { 0b1100_0010 } else { 0b10 };
        let mut body = b"\x00\x04MQTT\x05".to_vec();
        body.extend([flags, 0, 60, 0]);
        body.extend(text(""));
        for part in login.iter().flat_map(|(user, password)| [user, password]) {
            body.extend(text(part));
        }
        client.send(0x10, &body);
        let (_, answer) = client.receive();
        match answer[1] {
            SUCCESS => Ok((client, answer)),
            refusal => Err(refusal),
        }
    }

    /// Publishes at least once and gives the reason code of the acknowledgement.
    pub(crate) fn publish(&mut self, topic: &str, payload: &[u8], retain: bool) -> u8 {
        let mut body = text(topic);
        body.extend([0, 1, 0]);
        body.extend(payload);
        self.send(0x32 | u8::from(retain), &body);
        let (kind, answer) = self.receive();
        assert_eq!(kind, 0x40, "an acknowledgement");
        answer.get(2).copied().unwrap_or(SUCCESS)
    }

    /// Subscribes to a filter.
    pub(crate) fn subscribe(&mut self, filter: &str) {
        let mut body = vec![0, 2, 0];
        body.extend(text(filter));
        body.push(1);
        self.send(0x82, &body);
        assert_eq!(self.receive().0, 0x90, "a confirmation");
    }

    /// Receives the next message's topic, or nothing when none comes within a quarter of a second.
    pub(crate) fn next_topic(&mut self) -> Option<String> {
        self.0
            .set_read_timeout(Some(Duration::from_millis(250)))
            .unwrap();
        let mut first = [0];
        let came = self.0.peek(&mut first).is_ok();
        self.0
            .set_read_timeout(Some(Duration::from_secs(5)))
            .unwrap();
        came.then(|| {
            let (kind, body) = self.receive();
            assert_eq!(kind & 0xf0, 0x30, "a message");
            let length = usize::from(u16::from_be_bytes([body[0], body[1]]));
            String::from_utf8(body[2..2 + length].to_vec()).unwrap()
        })
    }

    fn send(&mut self, kind: u8, body: &[u8]) {
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
        self.0.write_all(&packet).unwrap();
    }

    fn receive(&mut self) -> (u8, Vec<u8>) {
        let kind = self.byte();
        let (mut length, mut shift) = (0, 0);
        loop {
            let byte = self.byte();
            length |= usize::from(byte & 0x7f) << shift;
            shift += 7;
            if byte < 0x80 {
                break;
            }
        }
        let mut body = vec![0; length];
        self.0.read_exact(&mut body).unwrap();
        (kind, body)
    }

    fn byte(&mut self) -> u8 {
        let mut byte = [0];
        self.0.read_exact(&mut byte).unwrap();
        byte[0]
    }
}

fn text(text: &str) -> Vec<u8> {
    let length = u16::try_from(text.len()).unwrap();
    [&length.to_be_bytes(), text.as_bytes()].concat()
}
