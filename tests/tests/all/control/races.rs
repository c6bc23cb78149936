//! Changes that meet: each race is brought about step by step.

use super::site::{ControlSite, NOON};
use domain::control::Outcome;
use domain::time::Timestamp;
use serde_json::json;
use testkit::eventually;

fn now(site: &ControlSite) -> Timestamp {
    Timestamp::from_micros(site.api.clock.now_micros())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_change_that_commits_while_older_documents_are_published_again_is_published() {
    let mut site = ControlSite::new().await;
    site.documents.revision(site.building, 1).await;
    site.stop_control().await;
    // A change is under way: its row of the outbox has the lower number, and nobody sees it yet.
    let mut change = site.world.database.begin().await.unwrap();
    let raise = sqlx::query("update control_state set revision = 2 where building_uuid = $1");
    raise
        .bind(site.building)
        .execute(&mut *change)
        .await
        .unwrap();
    let queue = sqlx::query("insert into desired_outbox (building_uuid, revision) values ($1, 2)");
    queue
        .bind(site.building)
        .execute(&mut *change)
        .await
        .unwrap();
    site.store.publish_again(&[site.building]).await.unwrap();
    let publishing = site
        .store
        .begin_publishing(256, now(&site))
        .await
        .unwrap()
        .unwrap();
    assert_eq!(publishing.publications()[0].revision, 1);
    change.commit().await.unwrap();
    publishing.confirm(&[Some(true)], now(&site)).await.unwrap();
    let publishing = site
        .store
        .begin_publishing(256, now(&site))
        .await
        .unwrap()
        .unwrap();
    assert_eq!(publishing.publications()[0].revision, 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_flag_that_changes_while_an_action_waits_for_its_turn_is_in_the_document() {
    let site = ControlSite::new().await;
    let mut change = site.world.database.begin().await.unwrap();
    let set = "update building set consumption_compensated_curtailment = true where uuid = $1";
    sqlx::query(set)
        .bind(site.building)
        .execute(&mut *change)
        .await
        .unwrap();
    let body = json!({"inverters_set_power_percentage": 10});
    let (action, ()) = tokio::join!(site.act(body), async {
        let waiting = "select count(*) from pg_stat_activity
            where wait_event_type = 'Lock' and datname = current_database()";
        eventually(async || match site.world.count(waiting).await {
            0 => Err("nobody waits"),
            _ => Ok(()),
        })
        .await;
        change.commit().await.unwrap();
    });
    site.desires(
        json!({"inverters": {"action_uuid": action, "power_percentage": 10,
        "until": null, "consumption_compensated": true}}),
    )
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn many_reports_of_one_building_do_not_keep_another_from_being_heard_in_time() {
    let mut site = ControlSite::new().await;
    let body = json!({"battery_set_power_charge_watts": 1, "battery_set_power_timeout": 60});
    let action = site.act(body).await;
    site.reaches(&action, "published").await;
    site.stop_control().await;
    let talker =
        "insert into building (uuid, name) values (gen_random_uuid(), 'Talker') returning uuid";
    let talker: uuid::Uuid = sqlx::query_scalar(talker)
        .fetch_one(&site.world.database)
        .await
        .unwrap();
    let reports = "insert into report (building_uuid, time, received_at, revision, outcomes)
        select $1, to_timestamp($2) + n * interval '1 millisecond',
               to_timestamp($2) + n * interval '1 millisecond', 1, '[]'
        from generate_series(1, 2500) n";
    let reports = sqlx::query(reports)
        .bind(talker)
        .bind(f64::from(i32::try_from(NOON).unwrap()));
    reports.execute(&site.world.database).await.unwrap();
    site.api.advance_seconds(30);
    site.report(2, &[(&action, Outcome::Accepted, None)]).await;
    site.api.advance_seconds(100);
    while site.store.handle_reports(now(&site)).await.unwrap() > 0 {}
    site.store.execute_due(now(&site)).await.unwrap();
    let action = site.action(&action).await;
    assert_eq!(
        (&action["status"], &action["ended_at"]),
        (&json!("confirmed"), &json!(NOON + 60))
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_to_be_published_again_later_is_so_whatever_is_published_before() {
    let mut site = ControlSite::new().await;
    site.documents.revision(site.building, 1).await;
    site.stop_control().await;
    // Somebody had begun to publish and was not heard of again.
    let attempt = "insert into desired_attempt (building_uuid, attempts) values ($1, 1)";
    let attempt = sqlx::query(attempt).bind(site.building);
    attempt.execute(&site.world.database).await.unwrap();
    let later = "select count(*) from desired_outbox where again and not_before is not null";
    for percentage in [10, 20] {
        site.act(json!({"inverters_set_power_percentage": percentage}))
            .await;
        let publishing = site.store.begin_publishing(256, now(&site)).await;
        let publishing = publishing.unwrap().unwrap();
        publishing.confirm(&[Some(true)], now(&site)).await.unwrap();
        assert_eq!(site.world.count(later).await, 1, "{percentage}");
    }
    assert!(
        site.store
            .begin_publishing(256, now(&site))
            .await
            .unwrap()
            .is_none()
    );
    site.api.advance_seconds(21);
    let publishing = site
        .store
        .begin_publishing(256, now(&site))
        .await
        .unwrap()
        .unwrap();
    assert_eq!(publishing.publications()[0].revision, 3, "the newest one");
}
