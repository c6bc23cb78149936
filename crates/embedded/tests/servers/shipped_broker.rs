//! `deploy/mosquitto/` does what it says.

use std::{
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use embedded::{Mosquitto, MosquittoOptions};

use crate::{
    mqtt_client::{Client, NO_SUBSCRIBER, NOT_AUTHORISED, SUCCESS},
    running,
};

const OURS: &str = "5f0c9d1e-0000-4000-8000-000000000001";
const OTHER: &str = "5f0c9d1e-0000-4000-8000-000000000002";
const KINDS: [&str; 5] = ["telemetry", "readings", "keyvalues", "reported", "presence"];

fn shipped(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../deploy/mosquitto")
        .join(name)
}

fn write_passwords(file: &Path) {
    let lines = ["wattline", OURS, OTHER]
        .map(|user| format!("{user}:secret\n"))
        .concat();
    std::fs::write(file, lines).unwrap();
    std::fs::set_permissions(file, std::fs::Permissions::from_mode(0o600)).unwrap();
    let hashed = Command::new("mosquitto_passwd")
        .arg("-U")
        .arg(file)
        .status()
        .unwrap();
    assert!(hashed.success());
}

fn start() -> (tempfile::TempDir, Mosquitto) {
    let folder = embedded::temporary_folder().unwrap();
    let passwords = folder.path().join("passwords");
    write_passwords(&passwords);
    let mut options = MosquittoOptions::new(folder.path());
    options.acl_file = Some(shipped("acl"));
    options.password_file = Some(passwords);
    let mosquitto = Mosquitto::start(&options).unwrap();
    (folder, mosquitto)
}

fn client(mosquitto: &Mosquitto, user: &str) -> Client {
    Client::connect(mosquitto.port(), Some((user, "secret")))
        .map(|(client, _)| client)
        .unwrap()
}

#[test]
fn nobody_connects_without_a_password() {
    let (_folder, mosquitto) = start();
    assert_eq!(
        Client::connect(mosquitto.port(), None).err(),
        Some(NOT_AUTHORISED)
    );
    let wrong = Client::connect(mosquitto.port(), Some((OURS, "wrong")));
    assert_eq!(wrong.err(), Some(NOT_AUTHORISED));
}

#[test]
fn a_controller_speaks_for_its_own_building_only() {
    let (_folder, mosquitto) = start();
    let mut controller = client(&mosquitto, OURS);
    for kind in KINDS {
        let own = controller.publish(&format!("v1/buildings/{OURS}/{kind}"), b"{}", false);
        assert!([SUCCESS, NO_SUBSCRIBER].contains(&own), "{kind}: {own}");
        let foreign = controller.publish(&format!("v1/buildings/{OTHER}/{kind}"), b"{}", false);
        assert_eq!(foreign, NOT_AUTHORISED, "{kind}");
    }
    for topic in [
        format!("v1/buildings/{OURS}/desired"),
        "elsewhere".to_owned(),
    ] {
        assert_eq!(
            controller.publish(&topic, b"{}", false),
            NOT_AUTHORISED,
            "{topic}"
        );
    }
}

#[test]
fn a_controller_hears_only_what_is_desired_of_it() {
    let (_folder, mosquitto) = start();
    let (mut service, mut controller) = (client(&mosquitto, "wattline"), client(&mosquitto, OURS));
    controller.subscribe("#");
    for building in [OTHER, OURS] {
        service.publish(&format!("v1/buildings/{building}/desired"), b"{}", false);
    }
    assert_eq!(
        controller.next_topic(),
        Some(format!("v1/buildings/{OURS}/desired"))
    );
    assert_eq!(controller.next_topic(), None);
}

#[test]
fn the_service_hears_every_record() {
    let (_folder, mosquitto) = start();
    let (mut service, mut controller) = (client(&mosquitto, "wattline"), client(&mosquitto, OURS));
    service.subscribe("v1/buildings/#");
    for kind in KINDS {
        let topic = format!("v1/buildings/{OURS}/{kind}");
        assert_eq!(controller.publish(&topic, b"{}", false), SUCCESS);
        assert_eq!(service.next_topic(), Some(topic));
    }
}

#[test]
fn a_payload_over_256_kib_is_refused_to_its_sender() {
    let (_folder, mosquitto) = start();
    let mut controller = client(&mosquitto, OURS);
    let topic = format!("v1/buildings/{OURS}/telemetry");
    let fits = controller.publish(&topic, &vec![b' '; 262_144], false);
    assert!([SUCCESS, NO_SUBSCRIBER].contains(&fits), "{fits}");
    let refused = controller.publish(&topic, &vec![b' '; 262_145], false);
    assert!(refused >= 0x80, "{refused}");
    let after = controller.publish(&topic, b"{}", false);
    assert!([SUCCESS, NO_SUBSCRIBER].contains(&after), "{after}");
}

#[test]
fn the_broker_announces_its_limits() {
    let (_folder, mosquitto) = start();
    let (_client, answer) = Client::connect(mosquitto.port(), Some((OURS, "secret"))).unwrap();
    // Maximum packet size (0x27), four bytes.
    let maximum = [&[0x27][..], &266_240_u32.to_be_bytes()].concat();
    assert!(
        answer.windows(5).any(|bytes| bytes == maximum),
        "{answer:x?}"
    );
}

#[test]
fn the_shipped_file_starts_a_broker() {
    let folder = embedded::temporary_folder().unwrap();
    let path = folder.path().display().to_string();
    write_passwords(&folder.path().join("wattline.passwords"));
    std::fs::copy(shipped("acl"), folder.path().join("wattline.acl")).unwrap();
    let port = 14_883;
    let text = std::fs::read_to_string(shipped("mosquitto.conf"))
        .unwrap()
        .replace("/etc/mosquitto", &path)
        .replace("/var/lib/mosquitto", &path)
        .replace("listener 1883", &format!("listener {port}"));
    let file = folder.path().join("mosquitto.conf");
    std::fs::write(&file, text + "user root\n").unwrap();
    let mut broker = Command::new("/usr/sbin/mosquitto")
        .arg("-c")
        .arg(&file)
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let answers = || std::net::TcpStream::connect(("127.0.0.1", port)).is_ok();
    running::eventually("the broker answers", answers);
    let greeted = Client::connect(port, Some(("wattline", "secret"))).map(drop);
    broker.kill().unwrap();
    broker.wait().unwrap();
    greeted.unwrap();
}
