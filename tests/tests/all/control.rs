//! Control end to end: actions over HTTP, desired documents over a real broker, a clock of the test's own
//! where that saves waiting.

#[path = "control/acted.rs"]
mod acted;
#[path = "control/broker.rs"]
mod broker;
#[path = "control/fates.rs"]
mod fates;
#[path = "control/faults.rs"]
mod faults;
#[path = "control/races.rs"]
mod races;
#[path = "control/site.rs"]
mod site;
#[path = "control/state_table.rs"]
mod state_table;
#[path = "control/timeouts.rs"]
mod timeouts;
#[path = "control/unreadable.rs"]
mod unreadable;

use domain::control::Outcome;
use serde_json::{Value, json};

/// The document without what changes with every revision.
fn in_force(document: &Value) -> Value {
    let mut document = document.clone();
    let object = document.as_object_mut().unwrap();
    object.remove("revision");
    object.remove("issued_at");
    document
}

#[tokio::test(flavor = "multi_thread")]
async fn every_building_has_a_document_from_its_creation_on_and_none_after_its_removal() {
    let site = site::ControlSite::new().await;
    let first = site.documents.revision(site.building, 1).await;
    assert_eq!(first.body["revision"], 1);
    assert_eq!(in_force(&first.body), json!({}));
    let building = site.building.to_string();
    site.world
        .command(&["admin", "building", "remove", &building, "--yes"]);
    let last = site.documents.until(site.building, Value::is_null).await;
    assert_eq!(last.revision(), 0);
    // The row of the publication stays for a while, for a broker that forgets.
    let left = "select (select count(*) from control_state) + (select count(*) from desired_outbox)
        + (select count(*) from desired_attempt)";
    testkit::eventually(async || match site.world.count(left).await {
        0 => Ok(()),
        rows => Err(rows),
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn actions_are_kept_for_a_while_after_their_end_and_the_audit_after_its_time() {
    let site = site::ControlSite::new().await;
    let over = site
        .act(json!({"battery_set_power_charge_watts": 1, "battery_set_power_timeout": 60}))
        .await;
    let lasting = site.act(json!({"inverters_set_power_watts": 1})).await;
    site.reaches(&over, "published").await;
    site.report(3, &[(&lasting, Outcome::Accepted, None)]).await;
    site.reaches(&lasting, "confirmed").await;
    site.api.advance_seconds(60);
    site.reaches(&over, "expired").await;
    let counts = async || {
        let tables = ["action", "action_step", "report", "audit_entry"].map(|table| {
            let query = format!("select count(*) from {table}");
            let world = &site.world;
            async move { world.count(&query).await }
        });
        let mut counts = Vec::new();
        for count in tables {
            counts.push(count.await);
        }
        counts
    };
    let store = store::Store::open(&site.world.settings["WATTLINE_DATABASE_URL"], 1).unwrap();
    let clear = async |seconds: i64| {
        let before = domain::time::Timestamp::from_seconds(seconds);
        store.clear_control(before, before).await.unwrap()
    };
    assert_eq!(clear(site::NOON).await, 0);
    // Accepted, published, delivered, expired; accepted, published, delivered, confirmed.
    assert_eq!(counts().await, [2, 8, 1, 2]);
    assert_eq!(
        clear(site::NOON + 60).await,
        3,
        "the report and two entries of the audit"
    );
    assert_eq!(counts().await, [2, 8, 0, 0]);
    assert_eq!(clear(site::NOON + 61).await, 1);
    assert_eq!(counts().await, [1, 4, 0, 0], "what is in force stays");
}
