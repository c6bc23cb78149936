use std::net::TcpListener;

use embedded::{Mosquitto, MosquittoOptions, StartFailure};

use crate::{mqtt_client::Client, running};

fn start() -> (tempfile::TempDir, Mosquitto) {
    let folder = embedded::temporary_folder().unwrap();
    let mosquitto = Mosquitto::start(&MosquittoOptions::new(folder.path())).unwrap();
    (folder, mosquitto)
}

#[test]
fn a_restart_keeps_what_was_retained() {
    let (_folder, mut mosquitto) = start();
    let (mut client, _) = Client::connect(mosquitto.port(), None).unwrap();
    client.publish("kept", b"so", true);
    let before = mosquitto.port();
    mosquitto.restart().unwrap();
    assert_eq!(mosquitto.port(), before);
    let (mut client, _) = Client::connect(mosquitto.port(), None).unwrap();
    client.subscribe("kept");
    assert_eq!(client.next_topic().as_deref(), Some("kept"));
}

#[test]
fn after_a_kill_it_is_gone_and_starts_again() {
    let (_folder, mut mosquitto) = start();
    let pid = mosquitto.id().unwrap();
    mosquitto.kill();
    assert!(!running::exists(pid));
    assert_eq!(mosquitto.id(), None);
    mosquitto.restart().unwrap();
    Client::connect(mosquitto.port(), None).map(drop).unwrap();
}

#[test]
fn a_dropped_broker_leaves_no_process() {
    let (folder, mosquitto) = start();
    let name = folder.path().display().to_string();
    assert_eq!(running::with(&name), 1);
    drop(mosquitto);
    assert_eq!(running::with(&name), 0);
}

#[test]
fn a_frozen_broker_is_stopped_all_the_same() {
    let (_folder, mut mosquitto) = start();
    let pid = mosquitto.id().unwrap();
    mosquitto.freeze();
    mosquitto.stop();
    assert!(!running::exists(pid));
}

#[test]
fn a_port_in_use_is_refused() {
    let taken = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let folder = embedded::temporary_folder().unwrap();
    let mut options = MosquittoOptions::new(folder.path());
    options.port = Some(taken.local_addr().unwrap().port());
    assert!(matches!(
        Mosquitto::start(&options).unwrap_err(),
        StartFailure::PortInUse { .. }
    ));
}

#[test]
fn a_broker_that_cannot_start_tells_why() {
    let folder = embedded::temporary_folder().unwrap();
    let mut options = MosquittoOptions::new(folder.path());
    options.acl_file = Some(folder.path().join("no-such-file"));
    let failure = Mosquitto::start(&options).unwrap_err();
    assert!(matches!(failure, StartFailure::Died { .. }), "{failure}");
    assert!(failure.to_string().contains("acl"), "{failure}");
}
