use super::*;
use rumqttc::v5::mqttbytes::QoS;
use rumqttc::v5::mqttbytes::v5::Publish;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

fn session() -> Session {
    Session {
        client_id: "me".to_owned(),
        clean_start: false,
        expiry_seconds: 60,
        receive_maximum: 10,
        largest_packet_bytes: 1_000,
        keep_alive: Duration::from_secs(10),
    }
}

/// A line, and the broker's end of it after the answer.
async fn line(code: ConnectReturnCode) -> (Result<Line, String>, TcpStream) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("mqtt://{}", listener.local_addr().unwrap());
    let broker = Broker::parse(&url).unwrap_or_else(|it| panic!("{it}"));
    let answers = async {
        let (mut socket, _) = listener.accept().await.unwrap();
        let mut read = BytesMut::new();
        while Packet::read(&mut read, None).is_err() {
            socket.read_buf(&mut read).await.unwrap();
        }
        let answer = ConnAck {
            session_present: true,
            code,
            properties: None,
        };
        let mut bytes = BytesMut::new();
        Packet::ConnAck(answer).write(&mut bytes, None).unwrap();
        socket.write_all(&bytes).await.unwrap();
        socket
    };
    let session = session();
    let (connected, socket) = tokio::join!(Line::connect(&broker, &session), answers);
    (connected.map(|(line, _)| line), socket)
}

#[tokio::test]
async fn a_packet_that_comes_byte_by_byte_is_handed_out_once_and_whole() {
    let (line, mut broker) = line(ConnectReturnCode::Success).await;
    let mut line = line.unwrap_or_else(|it| panic!("{it}"));
    let mut publish = Publish::new("a/b", QoS::AtLeastOnce, "text", None);
    publish.pkid = 7;
    let sent = Packet::Publish(publish);
    let mut bytes = BytesMut::new();
    sent.write(&mut bytes, None).unwrap();
    sent.write(&mut bytes, None).unwrap();
    let mut read = Vec::new();
    for byte in bytes {
        broker.write_all(&[byte]).await.unwrap();
        // Given up now and then: what has come stays.
        let _elapsed = timeout(Duration::from_micros(1), line.turn(true)).await;
        while let Some(packet) = line.packet().unwrap() {
            read.push(packet);
        }
    }
    while read.len() < 2 {
        line.turn(true).await.unwrap();
        while let Some(packet) = line.packet().unwrap() {
            read.push(packet);
        }
    }
    assert_eq!(read, [sent.clone(), sent]);
}

#[tokio::test]
async fn acknowledgements_go_as_one_run() {
    let (line, mut broker) = line(ConnectReturnCode::Success).await;
    let mut line = line.unwrap_or_else(|it| panic!("{it}"));
    (1..=300).for_each(|identifier| line.acknowledge(identifier));
    assert_eq!(line.turn(false).await, Ok(Turned::Written));
    assert!(!line.has_unwritten());
    let mut read = BytesMut::new();
    for identifier in 1..=300 {
        let packet = loop {
            match Packet::read(&mut read, None) {
                Ok(packet) => break packet,
                Err(_) => broker.read_buf(&mut read).await.unwrap(),
            };
        };
        assert_eq!(packet, Packet::PubAck(PubAck::new(identifier, None)));
    }
}

#[tokio::test]
async fn a_refusal_a_packet_that_is_too_large_and_the_end_are_told() {
    let (refused, _) = line(ConnectReturnCode::NotAuthorized).await;
    let told = refused.err().unwrap();
    assert!(told.contains("NotAuthorized"), "{told}");

    let (line, mut broker) = line(ConnectReturnCode::Success).await;
    let mut line = line.unwrap_or_else(|it| panic!("{it}"));
    let large = Publish::new("a", QoS::AtMostOnce, vec![b'x'; 2_000], None);
    let mut bytes = BytesMut::new();
    Packet::Publish(large).write(&mut bytes, None).unwrap();
    broker.write_all(&bytes).await.unwrap();
    line.turn(true).await.unwrap();
    assert!(line.packet().is_err());
    drop(broker);
    while line.turn(true).await.is_ok() {}
}
