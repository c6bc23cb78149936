//! The load: a batch published over MQTT with QoS 1, by clients that do no more than that, so that they take little of
//! the machine that everything runs on.

use crate::batch::Batch;
use benches::Outcome;
use std::io::{Read as _, Write as _};
use std::net::{Ipv4Addr, TcpStream};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};
use tokio::task::JoinSet;

/// Connections of the fleet; a building keeps to one.
pub(crate) const CONNECTIONS: usize = 4;
/// Publications in flight on each.
pub(crate) const WINDOW: u16 = 200;
/// Longest wait for a broker that confirms nothing.
const PATIENCE: Duration = Duration::from_secs(60);
/// Pause before the clock is looked at again while nothing is due.
const LOOK: Duration = Duration::from_millis(1);

const CONNACK: u8 = 0x20;
const PUBLISH_QOS_1: u8 = 0x32;
const PUBACK: u8 = 0x40;
const PUBACK_BYTES: usize = 4;

/// When a batch was published.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Published {
    pub(crate) begun: Instant,
    /// When the broker had confirmed all of it.
    pub(crate) ended: Instant,
}

impl Published {
    /// From the first publication to the last confirmation.
    pub(crate) fn took(&self) -> Duration {
        self.ended - self.begun
    }
}

/// Publishes a batch to its end: every record is confirmed, or it is an error.
pub(crate) async fn publish(port: u16, batch: Arc<Batch>) -> Outcome<Published> {
    let begun = Instant::now();
    let mut lanes = JoinSet::new();
    for lane in 0..CONNECTIONS {
        let batch = Arc::clone(&batch);
        lanes.spawn_blocking(move || run(port, lane, &batch));
    }
    while let Some(ended) = lanes.join_next().await {
        ended??;
    }
    Ok(Published {
        begun,
        ended: Instant::now(),
    })
}

/// Publishes one message and waits for its confirmation.
pub(crate) fn publish_one(port: u16, topic: &str, payload: &[u8]) -> Outcome<()> {
    let mut connection = Connection::open(port, "bench-probe")?;
    connection.put(topic, |bytes| bytes.extend_from_slice(payload))?;
    connection.send()?;
    connection.confirmed().map(drop)
}

/// One connection's share of the batch.
fn run(port: u16, lane: usize, batch: &Batch) -> Outcome<()> {
    let mut connection = Connection::open(port, &format!("bench-{lane}"))?;
    let mut numbers = (lane..batch.records).step_by(CONNECTIONS).peekable();
    loop {
        let now = Instant::now();
        let is_due = |it: &usize| batch.due(*it).is_none_or(|due| due <= now);
        while connection.in_flight < WINDOW
            && let Some(number) = numbers.next_if(is_due)
        {
            connection.put(batch.topic(number), |bytes| batch.write(number, bytes))?;
        }
        connection.send()?;
        if connection.in_flight > 0 {
            connection.confirmed()?;
        } else if numbers.peek().is_some() {
            thread::sleep(LOOK);
        } else {
            return Ok(());
        }
    }
}

/// An MQTT 3.1.1 client that only publishes.
struct Connection {
    stream: TcpStream,
    in_flight: u16,
    next_id: u16,
    payload: Vec<u8>,
    out: Vec<u8>,
    /// What has come of an acknowledgement that is not whole.
    part: usize,
}

impl Connection {
    fn open(port: u16, client_id: &str) -> Outcome<Self> {
        let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port))?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        // Protocol, level 4, clean session, no keep-alive.
        let mut connect = b"\x00\x04MQTT\x04\x02\x00\x00".to_vec();
        put_text(&mut connect, client_id)?;
        stream.write_all(&[0x10, u8::try_from(connect.len())?])?;
        stream.write_all(&connect)?;
        let mut answer = [0; 4];
        stream.read_exact(&mut answer)?;
        if answer[0] != CONNACK || answer[3] != 0 {
            return Err(format!("the broker refuses the load: {answer:?}").into());
        }
        Ok(Self {
            stream,
            in_flight: 0,
            next_id: 1,
            payload: Vec::new(),
            out: Vec::new(),
            part: 0,
        })
    }

    /// Appends a publication to what is sent next.
    fn put(&mut self, topic: &str, write: impl FnOnce(&mut Vec<u8>)) -> Outcome<()> {
        self.payload.clear();
        write(&mut self.payload);
        self.out.push(PUBLISH_QOS_1);
        let mut length = 2 + topic.len() + 2 + self.payload.len();
        while length > 127 {
            self.out.push(u8::try_from(length % 128)? | 0x80);
            length /= 128;
        }
        self.out.push(u8::try_from(length)?);
        put_text(&mut self.out, topic)?;
        self.out.extend_from_slice(&self.next_id.to_be_bytes());
        self.out.extend_from_slice(&self.payload);
        // Zero is no identifier; one that comes round again was confirmed long ago.
        self.next_id = self.next_id.checked_add(1).unwrap_or(1);
        self.in_flight += 1;
        Ok(())
    }

    fn send(&mut self) -> Outcome<()> {
        self.stream.write_all(&self.out)?;
        self.out.clear();
        Ok(())
    }

    /// Waits for the next acknowledgements, as many as come together.
    fn confirmed(&mut self) -> Outcome<u16> {
        let mut bytes = [0; 2_048];
        let read = self.stream.read(&mut bytes[self.part..])?;
        if read == 0 {
            return Err("the broker has closed the connection of the load".into());
        }
        // The first bytes of a part were looked at when they came.
        let first = if self.part == 0 { 0 } else { PUBACK_BYTES };
        let have = self.part + read;
        let is_other = |it: usize| bytes.get(it).is_some_and(|it| *it != PUBACK);
        if (first..have).step_by(PUBACK_BYTES).any(is_other) {
            return Err("the broker sends other than acknowledgements".into());
        }
        self.part = have % PUBACK_BYTES;
        let confirmed = u16::try_from(have / PUBACK_BYTES)?;
        self.in_flight = self
            .in_flight
            .checked_sub(confirmed)
            .ok_or("the broker confirms more than was published")?;
        Ok(confirmed)
    }
}

/// A text with its length before it.
fn put_text(out: &mut Vec<u8>, text: &str) -> Outcome<()> {
    out.extend_from_slice(&u16::try_from(text.len())?.to_be_bytes());
    out.extend_from_slice(text.as_bytes());
    Ok(())
}
