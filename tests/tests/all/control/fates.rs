//! What users see of their actions.

use super::site::{ControlSite, NOON};
use serde_json::{Value, json};

fn steps(action: &Value) -> Vec<&str> {
    let history = action["history"].as_array().unwrap();
    history
        .iter()
        .map(|it| it["status"].as_str().unwrap())
        .collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_silent_controllers_action_is_accepted_published_and_expired() {
    let site = ControlSite::new().await;
    let body = json!({"battery_set_power_charge_watts": 1000, "battery_set_power_timeout": 60});
    let action = site.act(body.clone()).await;
    let published = testkit::eventually(async || {
        let action = site.action(&action).await;
        if action["status"] == "published" {
            Ok(action)
        } else {
            Err(action)
        }
    })
    .await;
    assert_eq!(published["action"], body);
    assert_eq!(published["created_at"], NOON);
    assert_eq!(published["ended_at"], Value::Null);
    site.api.advance_seconds(61);
    site.desires(json!({})).await;
    let over = site.action(&action).await;
    assert_eq!(steps(&over), ["accepted", "published", "expired"]);
    assert_eq!(over["ended_at"], NOON + 60);
    assert_eq!(over["history"][2]["at"], NOON + 60);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_comes_while_control_is_away_happens_in_order_when_it_is_back() {
    let mut site = ControlSite::new().await;
    site.documents.revision(site.building, 1).await;
    site.stop_control().await;
    let curtailed = site
        .act(
            json!({"inverters_set_power_percentage": 10, "inverters_set_power_timeout": 60,
            "inverters_set_power_timeout_percentage": 80}),
        )
        .await;
    let charged = site
        .act(json!({"battery_set_power_charge_watts": 1000, "battery_set_power_timeout": 120}))
        .await;
    site.api.advance_seconds(3_600);
    site.start_control();
    site.desires(
        json!({"inverters": {"action_uuid": curtailed, "power_percentage": 80,
        "until": null, "consumption_compensated": false}}),
    )
    .await;
    for (action, end) in [(curtailed, NOON + 60), (charged, NOON + 120)] {
        assert_eq!(site.action(&action).await["ended_at"], end);
    }
}
