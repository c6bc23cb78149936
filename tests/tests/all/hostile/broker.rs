//! Over MQTT, against the broker as it is shipped: a controller that knows the password of one building.

use super::site::Site;
use crate::mqtt_wire::{Connect, NOT_AUTHORISED, Wire, packet, text};
use crate::records;
use testkit::{Socket, eventually};

/// Reason codes of MQTT 5.
const MALFORMED_PACKET: u8 = 0x81;
const PROTOCOL_ERROR: u8 = 0x82;
const PACKET_TOO_LARGE: u8 = 0x95;
const QOS_NOT_SUPPORTED: u8 = 0x9b;

#[tokio::test(flavor = "multi_thread")]
async fn whatever_a_controller_subscribes_to_it_hears_of_its_own_building_only() {
    let site = Site::start().await;
    let mut intruder = site.intruder().await;
    let group = "$share/wattline/v1/buildings/+/telemetry";
    for filter in [
        "#",
        "+/#",
        "v1/buildings/+/telemetry",
        "v1/buildings/+/desired",
        &site.victims("#"),
        &site.victims("desired"),
        "$SYS/#",
        "$share/any/#",
        group,
    ] {
        assert!(intruder.subscribe(filter).await.is_ok(), "{filter}");
    }
    site.victim_is_heard(20).await;
    intruder.write(&packet(0xc0, b"")).await.unwrap();
    loop {
        let (kind, body) = intruder.read().await.unwrap();
        if kind == 0xd0 {
            break;
        }
        assert_eq!(kind & 0xf0, 0x30, "{body:?}");
        let own = text(site.own("desired").as_bytes());
        assert!(body.starts_with(&own), "{}", String::from_utf8_lossy(&body));
    }
    site.is_unharmed().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn no_controller_takes_the_place_of_the_bridge() {
    let site = Site::start().await;
    for client_id in ["wattline-bridge", "wattline-bridge-control"] {
        for clean_start in [true, false] {
            let connect = Connect {
                client_id: client_id.to_owned(),
                clean_start,
                expiry_s: u32::MAX,
                ..Connect::v5(&site.hostile)
            };
            let mut intruder = Wire::controller(&site.broker, &connect).await;
            assert!(intruder.hears_nothing().await, "no session of the bridge");
            site.victim_is_heard(5).await;
        }
    }
    // Not even without a password, and not with the name of the service.
    let nobody = Connect {
        client_id: "wattline-bridge".to_owned(),
        ..Connect::v5("nobody")
    };
    let refused = Wire::attempt(&site.broker, &nobody).await;
    assert_eq!(refused.err(), Some(Some(NOT_AUTHORISED)));
    site.is_unharmed().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_group_that_nobody_can_guess_is_not_joined() {
    let secret = "wattline-9f0b3a5d2a0f9b114c67";
    let site = Site::start_with(&[("WATTLINE_MQTT_SHARE_GROUP", secret)]).await;
    let mut intruder = site.intruder().await;
    for group in ["wattline", "bridges", ""] {
        let filter = format!("$share/{group}/v1/buildings/+/telemetry");
        // Without a name it is no group; the broker says so.
        if intruder.subscribe(&filter).await.is_err() {
            intruder = site.intruder().await;
        }
    }
    site.victim_is_heard(30).await;
    site.is_unharmed().await;
    let told = site.service.log() + &site.service.told().await;
    let check = site.world.attempt(&["check"]);
    let told = told + &String::from_utf8_lossy(&check.stdout);
    assert!(!told.contains(secret), "{told}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_controller_may_not_say_is_heard_by_nobody() {
    let site = Site::start().await;
    let forged = records::meter(records::now(), 1_000_000);
    let forged = forged.as_bytes();
    let mut intruder = site.intruder().await;
    for kind in [
        "telemetry",
        "readings",
        "keyvalues",
        "reported",
        "presence",
        "desired",
    ] {
        let answer = intruder.publish(&site.victims(kind), forged).await;
        assert_eq!(answer, Ok(NOT_AUTHORISED), "{kind}");
    }
    for topic in [
        site.own("desired"),
        "$SYS/broker/uptime".to_owned(),
        "elsewhere".to_owned(),
        "a".repeat(65_535),
        format!("{}/", site.own("telemetry")),
    ] {
        let answer = intruder.publish(&topic, forged).await;
        assert_eq!(answer, Ok(NOT_AUTHORISED), "{topic}");
    }
    // These end the connection.
    for (topic, qos, expected) in [
        ("a/".repeat(5_000), 1, PROTOCOL_ERROR),
        ("v1/buildings/+/telemetry".to_owned(), 1, PROTOCOL_ERROR),
        ("#".to_owned(), 1, PROTOCOL_ERROR),
        (site.own("telemetry"), 2, QOS_NOT_SUPPORTED),
        (site.own("telemetry"), 3, MALFORMED_PACKET),
    ] {
        let mut intruder = site.intruder().await;
        let refused = intruder.publish_as(&topic, forged, qos, false).await;
        let refused = refused.unwrap_err().unwrap_or(expected);
        assert!(refused >= 0x80, "{qos}: {refused:x}");
        assert_eq!(refused, expected, "{qos}: {}", topic.len());
    }
    let mut intruder = site.intruder().await;
    let large = intruder
        .publish(&site.own("telemetry"), &vec![b' '; 300_000])
        .await;
    // Told, unless the connection was closed while it was still being written.
    let refused = [Err(Some(PACKET_TOO_LARGE)), Err(None)].contains(&large);
    assert!(refused, "{large:?}");
    // A last will for the victim.
    let connect = Connect {
        will: Some((site.victims("presence"), br#"{"online": false}"#.to_vec())),
        ..Connect::v5(&site.hostile)
    };
    if let Ok(dying) = Wire::attempt(&site.broker, &connect).await {
        drop(dying);
    }
    site.victim_is_heard(5).await;
    assert_eq!(site.stored(&site.hostile).await, 0);
    assert_eq!(
        site.dead_letters().await,
        0,
        "nothing of it reached the bridge"
    );
    assert_eq!(site.world.count("select count(*) from presence").await, 0);
    site.is_unharmed().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn another_building_in_the_payload_is_no_other_building() {
    let site = Site::start().await;
    let mut intruder = site.intruder().await;
    let now = records::now();
    let record = format!(
        r#"{{"time": {now}, "building_uuid": "{}", "main_meter": {{"status": "available"}}}}"#,
        site.victim
    );
    assert_eq!(
        intruder
            .publish(&site.own("telemetry"), record.as_bytes())
            .await,
        Ok(0)
    );
    let values = format!(
        r#"{{"time": {now}, "values": {{"building_uuid": "{}"}}}}"#,
        site.victim
    );
    assert_eq!(
        intruder
            .publish(&site.own("keyvalues"), values.as_bytes())
            .await,
        Ok(0)
    );
    eventually(async || match site.dead_letters().await {
        1 => Ok(()),
        other => Err(other),
    })
    .await;
    let victims = format!(
        "select count(*) from key_value where building_uuid = '{}'",
        site.victim
    );
    assert_eq!(site.world.count(&victims).await, 0);
    assert_eq!(site.stored(&site.victim).await, 0);
    site.is_unharmed().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn packets_that_are_none_cost_their_connection_only() {
    let site = Site::start().await;
    let topic = site.own("telemetry");
    let packets: [&[u8]; 14] = [
        b"",
        b"\x00",
        b"\xff\xff\xff\xff\xff",
        b"\x30\xff\xff\xff\x7f",
        b"\x32\x02\xff\xff",
        b"\x32\x05\x00\x01a\x00\x00",
        b"\x10\x00",
        b"\x40\x02\x00\x01",
        b"\x62\x02\x00\x07",
        b"\x82\x02\x00\x01",
        b"\x82\x06\x00\x01\x00\x00\x00\x01",
        b"\xf0\x02\x18\x00",
        b"\x20\x03\x00\x00\x00",
        b"\x90\x04\x00\x01\x00\x01",
    ];
    for bytes in packets {
        let mut intruder = site.intruder().await;
        // Alone, and behind a good message.
        let good = intruder.publication(&topic, b"not json", 1, false);
        let wrote = intruder.write(&[&good, bytes].concat()).await;
        assert!(wrote.is_ok(), "{bytes:x?}");
        drop(intruder);
        let mut bare = Socket::secure(site.broker.controllers_port(), &site.broker.authority)
            .await
            .unwrap();
        assert!(bare.send_bytes(bytes).await.is_ok());
    }
    let garbage: Vec<u8> = (0..=255).cycle().take(100_000).collect();
    for start in 0..32 {
        let mut plain = Socket::connect(site.broker.controllers_port())
            .await
            .unwrap();
        // No TLS: the broker may close at once.
        plain.send_bytes(&garbage[start..]).await.ok();
        let mut intruder = site.intruder().await;
        if intruder.write(&garbage[start..]).await.is_err() {}
    }
    site.victim_is_heard(5).await;
    site.is_unharmed().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_controller_of_mqtt_3_is_held_to_the_same() {
    let site = Site::start().await;
    let connect = Connect {
        client_id: "wattline-bridge".to_owned(),
        clean_start: false,
        ..Connect::v311(&site.hostile)
    };
    let mut intruder = Wire::controller(&site.broker, &connect).await;
    let record = records::meter(records::now(), 5);
    // This version knows no refusal: it is confirmed, and goes nowhere.
    let (own, record) = (site.own("telemetry"), record.as_bytes());
    let forged = intruder.publish(&site.victims("telemetry"), record).await;
    assert_eq!(forged, Ok(0));
    assert_eq!(intruder.publish(&own, record).await, Ok(0));
    let twice = intruder.publish_as(&own, record, 2, false).await;
    assert!(twice.is_err(), "QoS 2 is not offered");
    eventually(async || match site.stored(&site.hostile).await {
        1 => Ok(()),
        other => Err(other),
    })
    .await;
    assert_eq!(site.stored(&site.victim).await, 0);
    site.victim_is_heard(5).await;
    site.is_unharmed().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn when_every_place_of_controllers_is_taken_the_service_still_comes_in() {
    let mut site = Site::start().await;
    let mut crowd = Vec::new();
    for _ in 0..1_000 {
        match Socket::connect(site.broker.controllers_port()).await {
            Ok(socket) => crowd.push(socket),
            Err(_) => break,
        }
    }
    assert!(crowd.len() > 500, "{}", crowd.len());
    assert!(site.service.stop().success());
    site.service = site.world.serve().await;
    drop(crowd);
    // Places are free again as soon as the broker has seen them go.
    let free = async || {
        let connect = Connect::v5(&site.victim);
        let socket = Socket::secure(site.broker.controllers_port(), &site.broker.authority).await;
        match socket {
            Ok(_) => Wire::attempt(&site.broker, &connect).await.map(drop),
            Err(_) => Err(None),
        }
    };
    eventually(free).await;
    site.victim_is_heard(5).await;
}
