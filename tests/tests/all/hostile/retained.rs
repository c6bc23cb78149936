//! Retained messages: what a controller may leave with the broker, and how often the bridge gets it.

use super::site::Site;
use crate::mqtt_wire::{Connect, Wire};
use crate::records;
use testkit::eventually;

const KINDS: [&str; 5] = ["telemetry", "readings", "keyvalues", "reported", "presence"];

/// Leaves retained messages by the hundred; the broker keeps one for each topic, which are five.
async fn bomb(site: &Site) {
    let mut intruder = site.intruder().await;
    let start = records::now() - 3_000;
    for number in 0..200 {
        let record = records::meter(start + number, 5);
        for kind in KINDS {
            let own = site.own(kind);
            let answer = intruder.publish_as(&own, record.as_bytes(), 1, true).await;
            assert_eq!(answer, Ok(0), "{kind}");
        }
        let foreign = format!("{}/{number}", site.own("telemetry"));
        let refused = intruder
            .publish_as(&foreign, record.as_bytes(), 1, true)
            .await;
        assert!(refused.is_ok_and(|it| it >= 0x80), "only its five topics");
    }
}

async fn received(site: &Site, messages: f64) {
    let series = "wattline_bridge_received_messages_total";
    eventually(async || match site.service.metric(series).await {
        all if all == messages => Ok(()),
        other => Err(other),
    })
    .await;
}

async fn settled(site: &Site) -> (i64, i64) {
    eventually(async || {
        match site
            .service
            .metric("wattline_bridge_in_flight_messages")
            .await
        {
            0.0 => Ok(()),
            other => Err(other),
        }
    })
    .await;
    (site.stored(&site.hostile).await, site.dead_letters().await)
}

#[tokio::test(flavor = "multi_thread")]
async fn retained_messages_come_once_to_a_session_and_change_nothing_in_another() {
    let mut site = Site::start().await;
    bomb(&site).await;
    received(&site, 1_000.0).await;
    let (stored, refused) = settled(&site).await;
    // Telemetry is stored, and the same bytes are none of the other four.
    assert_eq!((stored, refused), (200, 800));

    // The same session: what is retained does not come again.
    assert!(site.service.stop().success());
    site.service = site.world.serve().await;
    site.victim_is_heard(5).await;
    received(&site, 5.0).await;
    assert_eq!(settled(&site).await, (200, 800));

    // A new session: one message for each topic, and the record is a duplicate.
    assert!(site.service.stop().success());
    let another = "another-bridge".to_owned();
    site.world
        .settings
        .insert("WATTLINE_MQTT_CLIENT_ID".to_owned(), another);
    site.service = site.world.serve().await;
    // The five of the hostile one; the victim's are not retained.
    received(&site, 5.0).await;
    let (stored, refused) = settled(&site).await;
    assert_eq!(stored, 200);
    assert!(refused <= 804, "{refused}");
    let duplicates = "wattline_aggregator_duplicate_messages_total";
    assert_eq!(site.service.metric(duplicates).await, 1.0);
    site.victim_is_heard(5).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_controller_has_one_session_whatever_it_calls_itself() {
    let site = Site::start().await;
    for number in 0..50 {
        let connect = Connect {
            client_id: format!("session-{number}"),
            clean_start: false,
            expiry_s: u32::MAX,
            ..Connect::v5(&site.hostile)
        };
        let mut intruder = Wire::controller(&site.broker, &connect).await;
        assert!(intruder.subscribe("#").await.is_ok());
    }
    let log = site.broker.log();
    let taken_over = log.matches("already connected").count();
    let names = log.matches("session-").count();
    assert_eq!(names, 0, "{taken_over}: {log}");
    site.victim_is_heard(20).await;
    site.is_unharmed().await;
}
