//! A broker that misbehaves on purpose, as no real one does on demand.

use bytes::{Bytes, BytesMut};
use rumqttc::v5::mqttbytes::Error;
use rumqttc::v5::mqttbytes::QoS;
use rumqttc::v5::mqttbytes::v5::{
    ConnAck, ConnectReturnCode, Packet, PingResp, PubAck, Publish, SubAck, SubscribeReasonCode,
};
use std::collections::HashMap;
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

/// What all connections have to do with.
#[derive(Default)]
struct Shared {
    received: Mutex<Vec<Bytes>>,
    /// By topic, the next one last.
    retained: Mutex<HashMap<String, Vec<Bytes>>>,
    subscribed: Mutex<Vec<String>>,
}

/// Takes connections one after the other; each gets the next manners, the last ones stay.
pub(crate) struct StubBroker {
    pub(crate) port: u16,
    shared: Arc<Shared>,
    _task: JoinSet<()>,
}

impl StubBroker {
    pub(crate) async fn start(port: u16, manners: &'static [Manners]) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", port)).await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let shared = Arc::default();
        let mut task = JoinSet::new();
        task.spawn(accept(listener, manners, Arc::clone(&shared)));
        Self {
            port,
            shared,
            _task: task,
        }
    }

    pub(crate) fn url(&self) -> String {
        format!("mqtt://127.0.0.1:{}", self.port)
    }

    /// All payloads in the order of their arrival, repetitions included.
    pub(crate) fn received(&self) -> Vec<Bytes> {
        self.shared.received.lock().unwrap().clone()
    }

    /// Retains payloads on a topic: a connection that subscribes gets the next one, the last one stays.
    pub(crate) fn retain(&self, topic: &str, payloads: Vec<Vec<u8>>) {
        let payloads = payloads.into_iter().rev().map(Bytes::from).collect();
        let mut retained = self.shared.retained.lock().unwrap();
        retained.insert(topic.to_owned(), payloads);
    }

    /// All filters in the order in which they were asked for, repetitions included.
    pub(crate) fn subscribed(&self) -> Vec<String> {
        self.shared.subscribed.lock().unwrap().clone()
    }
}

async fn accept(listener: TcpListener, manners: &'static [Manners], shared: Arc<Shared>) {
    let mut connections = JoinSet::new();
    for number in 0.. {
        let (stream, _) = listener.accept().await.unwrap();
        let manners = manners[number.min(manners.len() - 1)];
        connections.spawn(serve(stream, manners, Arc::clone(&shared)));
    }
}

async fn serve(mut stream: TcpStream, manners: Manners, shared: Arc<Shared>) {
    let (mut input, mut output) = (BytesMut::new(), BytesMut::new());
    let mut count = 0;
    loop {
        match Packet::read(&mut input, None) {
            Ok(Packet::Publish(publish)) => {
                shared.received.lock().unwrap().push(publish.payload);
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
            Ok(Packet::Subscribe(subscribe)) => {
                let filters = subscribe.filters.iter().map(|it| it.path.clone());
                shared.listen(subscribe.pkid, filters.collect(), &mut output);
            }
            Ok(Packet::PubAck(_)) => {}
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

impl Shared {
    /// Confirms a subscription and hands over what is retained.
    fn listen(&self, pkid: u16, filters: Vec<String>, output: &mut BytesMut) {
        let granted = SubscribeReasonCode::Success(QoS::AtLeastOnce);
        let answer = SubAck {
            pkid,
            return_codes: vec![granted; filters.len()],
            properties: None,
        };
        answer.write(output).unwrap();
        let mut retained = self.retained.lock().unwrap();
        for (number, filter) in (1..).zip(&filters) {
            if let Some(payloads) = retained.get_mut(filter)
                && let Some(payload) = payloads.last().cloned()
            {
                if payloads.len() > 1 {
                    payloads.pop();
                }
                let mut publish = Publish::new(filter, QoS::AtLeastOnce, payload, None);
                publish.pkid = number;
                publish.retain = true;
                publish.write(output).unwrap();
            }
        }
        self.subscribed.lock().unwrap().extend(filters);
    }
}
