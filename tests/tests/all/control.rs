//! Control end to end: actions over HTTP, desired documents over a real broker, a clock of the test's own
//! where that saves waiting.

#[path = "control/fates.rs"]
mod fates;
#[path = "control/faults.rs"]
mod faults;
#[path = "control/site.rs"]
mod site;
#[path = "control/state_table.rs"]
mod state_table;

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
    let left = "select (select count(*) from control_state) + (select count(*) from desired_outbox)
        + (select count(*) from desired_publication)";
    testkit::eventually(async || match site.world.count(left).await {
        0 => Ok(()),
        rows => Err(rows),
    })
    .await;
}
