//! A broker that misbehaves on purpose, as no real one does on demand.

use bytes::{Bytes, BytesMut};
use rumqttc::v5::mqttbytes::Error;
use rumqttc::v5::mqttbytes::v5::{ConnAck, ConnectReturnCode, Packet, PingResp, PubAck};
use std::sync::{Arc, Mutex};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;

/// How the broker treats one connection.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Manners {
    /// Acknowledges everything.
    Answers,
    /// Acknowledges so many, then nothing, but answers pings.
    FallsSilentAfter(usize),
    /// Acknowledges so many, then closes the connection.
    HangsUpAfter(usize),
    /// Acknowledges every second one, so that packet identifiers collide, and hangs up after so many.
    SkipsAndHangsUpAfter(usize),
}

/// Takes connections one after the other; each gets the next manners, the last ones stay.
pub(crate) struct StubBroker {
    pub(crate) port: u16,
    received: Arc<Mutex<Vec<Bytes>>>,
    _task: JoinSet<()>,
}

impl StubBroker {
    pub(crate) async fn start(port: u16, manners: &'static [Manners]) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", port)).await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let received = Arc::default();
        let mut task = JoinSet::new();
        task.spawn(accept(listener, manners, Arc::clone(&received)));
        Self {
            port,
            received,
            _task: task,
        }
    }

    pub(crate) fn url(&self) -> String {
        format!("mqtt://127.0.0.1:{}", self.port)
    }

    /// All payloads in the order of their arrival, repetitions included.
    pub(crate) fn received(&self) -> Vec<Bytes> {
        self.received.lock().unwrap().clone()
    }
}

async fn accept(
    listener: TcpListener,
    manners: &'static [Manners],
    received: Arc<Mutex<Vec<Bytes>>>,
) {
    let mut connections = JoinSet::new();
    for number in 0.. {
        let (stream, _) = listener.accept().await.unwrap();
        let manners = manners[number.min(manners.len() - 1)];
        connections.spawn(serve(stream, manners, Arc::clone(&received)));
    }
}

async fn serve(mut stream: TcpStream, manners: Manners, received: Arc<Mutex<Vec<Bytes>>>) {
    let (mut input, mut output) = (BytesMut::new(), BytesMut::new());
    let mut count = 0;
    loop {
        match Packet::read(&mut input, None) {
            Ok(Packet::Publish(publish)) => {
                received.lock().unwrap().push(publish.payload);
                count += 1;
                let (answers, hangs_up) = match manners {
                    Manners::Answers => (true, false),
                    Manners::FallsSilentAfter(limit) => (count <= limit, false),
                    Manners::HangsUpAfter(limit) => (count <= limit, count > limit),
                    Manners::SkipsAndHangsUpAfter(limit) => (count % 2 == 0, count >= limit),
                };
                if answers {
                    PubAck::new(publish.pkid, None).write(&mut output).unwrap();
                }
                stream.write_all_buf(&mut output).await.unwrap();
                if hangs_up {
                    return;
                }
            }
            Ok(Packet::Connect(..)) => {
                let answer = ConnAck {
                    session_present: false,
                    code: ConnectReturnCode::Success,
                    properties: None,
                };
                answer.write(&mut output).unwrap();
            }
            Ok(Packet::PingReq(_)) => {
                PingResp::write(&mut output).unwrap();
            }
            Ok(_) => return,
            Err(Error::InsufficientBytes(_)) => {
                stream.write_all_buf(&mut output).await.unwrap();
                if stream.read_buf(&mut input).await.unwrap_or(0) == 0 {
                    return;
                }
            }
            Err(error) => panic!("{error}"),
        }
    }
}
