//! What users see of their actions.

use super::site::{ControlSite, NOON};
use domain::control::Outcome;
use domain::reading::Record;
use domain::record::{Battery, Solar, Status, TelemetryRecord};
use domain::time::Timestamp;
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
    let published = site.reaches(&action, "published").await;
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

fn charge(watts: i32, seconds: i32) -> Value {
    json!({"battery_set_power_charge_watts": watts, "battery_set_power_timeout": seconds})
}

#[tokio::test(flavor = "multi_thread")]
async fn an_action_is_delivered_with_its_revision_and_confirmed_with_its_outcome() {
    let site = ControlSite::new().await;
    let action = site.act(charge(1_000, 60)).await;
    let published = site.reaches(&action, "published").await;
    assert_eq!(
        published["history"][1]["detail"],
        "the broker confirmed revision 2"
    );
    site.api.advance_seconds(1);
    site.report(1, &[]).await;
    site.api.advance_seconds(1);
    site.report(2, &[]).await;
    let delivered = site.reaches(&action, "delivered").await;
    assert_eq!(
        delivered["history"][2]["at"],
        NOON + 2,
        "not by a report on an older revision"
    );
    site.api.advance_seconds(1);
    site.report(2, &[(&action, Outcome::Accepted, None)]).await;
    let confirmed = site.reaches(&action, "confirmed").await;
    assert_eq!(
        steps(&confirmed),
        ["accepted", "published", "delivered", "confirmed"]
    );
    assert_eq!(confirmed["ended_at"], Value::Null);
    site.api.advance_seconds(60);
    site.desires(json!({})).await;
    let over = site.action(&action).await;
    assert_eq!(
        (&over["status"], &over["ended_at"]),
        (&json!("confirmed"), &json!(NOON + 60))
    );
    assert_eq!(
        over["history"], confirmed["history"],
        "what was confirmed stays so"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_controller_rejects_is_over_at_once_and_not_desired_any_more() {
    let site = ControlSite::new().await;
    let rejected = site.act(charge(1_000, 600)).await;
    let partial = json!({"inverters_set_power_watts": 5, "inverters_set_power_timeout": 60});
    let partial = site.act(partial).await;
    site.report(
        3,
        &[
            (&rejected, Outcome::Rejected, Some("the battery is off")),
            (&partial, Outcome::Partial, Some("one of two inverters")),
        ],
    )
    .await;
    let rejected = site.reaches(&rejected, "rejected").await;
    assert_eq!(rejected["ended_at"], NOON);
    let told = rejected["history"].as_array().unwrap().last().unwrap()["detail"].clone();
    assert_eq!(told, "the controller reported rejected: the battery is off");
    let document = site.documents.revision(site.building, 4).await;
    assert_eq!(document.body["battery"], Value::Null);
    assert_eq!(document.body["inverters"]["power_watts"], 5);
    let after = site.reaches(&partial, "partial").await;
    assert_eq!(after["ended_at"], Value::Null);
    site.act(json!({"inverters_set_power_watts": 6})).await;
    let after = site.action(&partial).await;
    assert_eq!(
        (&after["status"], &after["ended_at"]),
        (&json!("partial"), &json!(NOON))
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_report_that_comes_after_the_end_changes_nothing() {
    let site = ControlSite::new().await;
    let action = site.act(charge(1_000, 60)).await;
    let newer = site.act(charge(2_000, 60)).await;
    site.api.advance_seconds(100);
    site.report(
        3,
        &[
            (&action, Outcome::Accepted, None),
            (&newer, Outcome::Rejected, None),
        ],
    )
    .await;
    let control = "select count(*) from report where not handled";
    testkit::eventually(async || match site.world.count(control).await {
        0 => Ok(()),
        left => Err(left),
    })
    .await;
    assert_eq!(site.action(&action).await["status"], "superseded");
    let newer = site.reaches(&newer, "expired").await;
    assert_eq!(newer["ended_at"], NOON + 60);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cancellation_is_confirmed_once_the_controller_has_the_document_without_its_target() {
    let site = ControlSite::new().await;
    site.act(json!({"grid_target_delivery_watts": 5, "grid_target_duration": 600}))
        .await;
    let cancel = site.act(json!({"grid_target_cancel": true})).await;
    site.reaches(&cancel, "published").await;
    site.api.advance_seconds(5);
    site.report(3, &[]).await;
    let cancel = site.reaches(&cancel, "confirmed").await;
    assert_eq!(
        steps(&cancel),
        ["accepted", "published", "delivered", "confirmed"]
    );
    assert_eq!(cancel["ended_at"], NOON + 5);
}

/// A record of now with these setpoints, in watt.
fn setpoints(site: &ControlSite, battery_w: i32, solar_w: i32) -> Record {
    let time = Timestamp::from_micros(site.api.clock.now_micros());
    Record::Telemetry(TelemetryRecord {
        time,
        main_meter: None,
        battery: Some(Battery {
            status: Status::Available,
            active_power_w: Some(0),
            active_power_setpoint_w: Some(battery_w),
            baseline_power_w: None,
            soc_percent: None,
            charge_limit_w: None,
            remaining_charge_time_s: None,
            discharge_limit_w: None,
            remaining_discharge_time_s: None,
        }),
        solar: Some(Solar {
            status: Status::Available,
            active_power_w: Some(0),
            active_power_setpoint_w: Some(solar_w),
            rated_power_w: Some(8_000),
            min_power_w: None,
            max_power_w: None,
            baseline_power_w: None,
        }),
    })
}

#[tokio::test(flavor = "multi_thread")]
async fn a_record_that_comes_before_the_brokers_confirmation_counts_and_so_does_one_among_several()
{
    let mut site = ControlSite::new().await;
    site.documents.revision(site.building, 1).await;
    site.stop_control().await;
    let action = site.act(charge(1_000, 600)).await;
    let now = || Timestamp::from_micros(site.api.clock.now_micros());
    let publishing = site
        .store
        .begin_publishing(256, now())
        .await
        .unwrap()
        .unwrap();
    for battery_w in [0, 1_000, 300] {
        site.api.clock.advance(std::time::Duration::from_millis(20));
        site.ingest(setpoints(&site, battery_w, 0)).await;
    }
    site.api.advance_seconds(1);
    publishing.confirm(&[Some(true)], now()).await.unwrap();
    site.store
        .watch_telemetry(uuid::Uuid::nil(), now())
        .await
        .unwrap();
    let action = site.action(&action).await;
    assert_eq!(steps(&action), ["accepted", "published", "confirmed"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn telemetry_that_shows_the_setpoint_confirms() {
    let site = ControlSite::new().await;
    let record = |battery_w, solar_w| setpoints(&site, battery_w, solar_w);
    // What was shown before the action proves nothing.
    site.ingest(record(-1_000, -4_000)).await;
    let battery =
        json!({"battery_set_power_discharge_watts": 1_000, "battery_set_power_timeout": 600});
    let battery = site.act(battery).await;
    let solar = site
        .act(json!({"inverters_set_power_percentage": 50}))
        .await;
    site.reaches(&solar, "published").await;
    site.api.advance_seconds(10);
    site.ingest(record(-989, -7_000)).await;
    site.api.advance_seconds(10);
    site.ingest(record(-990, -7_000)).await;
    let battery = site.reaches(&battery, "confirmed").await;
    assert_eq!(steps(&battery), ["accepted", "published", "confirmed"]);
    assert_eq!(battery["history"][2]["at"], NOON + 20);
    assert_eq!(site.action(&solar).await["status"], "published");
    site.api.advance_seconds(10);
    site.ingest(record(0, -3_960)).await;
    site.reaches(&solar, "confirmed").await;
    testkit::eventually(async || {
        let watched = "select count(*) from control_state where watched_since is not null";
        match site.world.count(watched).await {
            0 => Ok(()),
            watched => Err(watched),
        }
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn of_actions_within_one_second_the_last_one_is_in_force() {
    let mut site = ControlSite::new().await;
    site.documents.revision(site.building, 1).await;
    site.stop_control().await;
    let mut actions = Vec::new();
    for watts in 0..20 {
        actions.push(site.act(charge(watts, 60)).await);
    }
    site.start_control();
    let last = actions.pop().unwrap();
    site.desires(json!({"battery": {"action_uuid": last, "charge_watts": 19, "until": NOON + 60}}))
        .await;
    for superseded in actions {
        let superseded = site.action(&superseded).await;
        assert_eq!(steps(&superseded), ["accepted", "superseded"]);
        assert_eq!(superseded["ended_at"], NOON);
    }
    site.reaches(&last, "published").await;
    let revisions = site.documents.of(site.building);
    let revisions: Vec<i64> = revisions.iter().map(|it| it.revision()).collect();
    assert_eq!(revisions, [1, 21], "one document tells all of it");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_controller_that_was_away_for_an_hour_gets_one_document() {
    let site = ControlSite::new().await;
    let body = json!({"inverters_set_power_percentage": 10, "inverters_set_power_timeout": 60,
        "inverters_set_power_timeout_percentage": 80});
    let curtailed = site.act(body).await;
    site.documents.revision(site.building, 2).await;
    let battery = site.act(charge(1_000, 7_200)).await;
    site.api.advance_seconds(3_600);
    let newest = site
        .desires(json!({
            "inverters": {"action_uuid": curtailed, "power_percentage": 80, "until": null,
                "consumption_compensated": false},
            "battery": {"action_uuid": battery, "charge_watts": 1_000, "until": NOON + 7_200},
        }))
        .await;
    let back = testkit::DesiredDocuments::subscribe(site.world.mqtt_port()).await;
    let got = back.revision(site.building, 1).await;
    assert!(got.retained);
    assert_eq!(got.body, newest);
    assert_eq!(back.of(site.building).len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_buildings_flag_is_carried_to_the_controller() {
    let site = ControlSite::new().await;
    let action = site
        .act(json!({"inverters_set_power_percentage": 10}))
        .await;
    let expected = |flag: bool| {
        json!({"inverters": {"action_uuid": action, "power_percentage": 10, "until": null,
            "consumption_compensated": flag}})
    };
    site.desires(expected(false)).await;
    for flag in [true, false] {
        let set = "update building set consumption_compensated_curtailment = $1";
        sqlx::query(set)
            .bind(flag)
            .execute(&site.world.database)
            .await
            .unwrap();
        site.desires(expected(flag)).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn telemetry_confirms_also_where_the_report_came_before_the_confirmation_was_noted() {
    let mut site = ControlSite::new().await;
    site.documents.revision(site.building, 1).await;
    site.stop_control().await;
    let action = site.act(charge(1_000, 600)).await;
    let now = || Timestamp::from_micros(site.api.clock.now_micros());
    let publishing = site
        .store
        .begin_publishing(256, now())
        .await
        .unwrap()
        .unwrap();
    site.api.advance_seconds(1);
    site.report(2, &[]).await;
    site.store.handle_reports(now()).await.unwrap();
    publishing.confirm(&[Some(true)], now()).await.unwrap();
    site.ingest(setpoints(&site, 1_000, 0)).await;
    site.store
        .watch_telemetry(uuid::Uuid::nil(), now())
        .await
        .unwrap();
    let action = site.action(&action).await;
    assert_eq!(
        steps(&action),
        ["accepted", "published", "delivered", "confirmed"]
    );
}
