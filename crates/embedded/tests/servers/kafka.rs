use std::{
    fs,
    io::{Read, Write},
    net::TcpStream,
    time::Duration,
};

use embedded::{Kafka, KafkaOptions, StartFailure};

use crate::running;

/// CreateTopics, version 2: one partition, one replica.
fn create_topic(port: u16, name: &str) {
    let length = u16::try_from(name.len()).unwrap();
    let mut request = b"\x00\x13\x00\x02\x00\x00\x00\x01\xff\xff\x00\x00\x00\x01".to_vec();
    request.extend(length.to_be_bytes());
    request.extend(name.as_bytes());
    request.extend(b"\x00\x00\x00\x01\x00\x01\x00\x00\x00\x00\x00\x00\x00\x00");
    request.extend(b"\x00\x00\x27\x10\x00");
    let answer = ask(port, &request);
    let name_at = answer
        .windows(name.len())
        .position(|bytes| bytes == name.as_bytes())
        .unwrap();
    assert_eq!(&answer[name_at + name.len()..][..2], [0, 0], "no error");
}

/// Metadata of all topics, version 1, searched for a name.
fn has_topic(port: u16, name: &str) -> bool {
    let answer = ask(
        port,
        b"\x00\x03\x00\x01\x00\x00\x00\x02\xff\xff\xff\xff\xff\xff",
    );
    answer
        .windows(name.len())
        .any(|bytes| bytes == name.as_bytes())
}

fn ask(port: u16, request: &[u8]) -> Vec<u8> {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
    stream
        .set_read_timeout(Some(Duration::from_secs(15)))
        .unwrap();
    let length = u32::try_from(request.len()).unwrap();
    stream
        .write_all(&[&length.to_be_bytes(), request].concat())
        .unwrap();
    let mut length = [0; 4];
    stream.read_exact(&mut length).unwrap();
    let mut answer = vec![0; u32::from_be_bytes(length) as usize];
    stream.read_exact(&mut answer).unwrap();
    answer
}

#[test]
fn a_topic_survives_a_kill_and_a_stop() {
    let folder = embedded::temporary_folder().unwrap();
    let name = folder.path().display().to_string();
    let mut kafka = Kafka::start(&KafkaOptions::new(folder.path())).unwrap();
    let port = kafka.port();
    assert_eq!(kafka.brokers(), format!("127.0.0.1:{port}"));
    create_topic(port, "kept");
    kafka.kill();
    assert_eq!(running::with(&name), 0);
    kafka.restart().unwrap();
    running::eventually("the topic is there", || has_topic(port, "kept"));
    drop(kafka);
    assert_eq!(running::with(&name), 0);

    let mut options = KafkaOptions::new(folder.path());
    options.port = Some(port);
    let kafka = Kafka::start(&options).unwrap();
    running::eventually("the topic is there", || has_topic(port, "kept"));
    drop(kafka);
}

#[test]
fn a_broker_that_cannot_start_tells_why() {
    let folder = embedded::temporary_folder().unwrap();
    let kafka = Kafka::start(&KafkaOptions::new(folder.path())).unwrap();
    drop(kafka);
    let properties = folder.path().join("data/meta.properties");
    let other = fs::read_to_string(&properties)
        .unwrap()
        .replace("node.id=1", "node.id=2");
    fs::write(&properties, other).unwrap();
    let failure = Kafka::start(&KafkaOptions::new(folder.path())).unwrap_err();
    assert!(matches!(failure, StartFailure::Died { .. }), "{failure}");
    assert!(failure.to_string().contains("node"), "{failure}");
}
