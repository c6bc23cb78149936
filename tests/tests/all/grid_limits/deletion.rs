//! Deleting: the inclusive window, and all or nothing.

use super::{Fixture, QUARTER, breaks};
use serde_json::{Value, json};
use testkit::eventually;
use tokio::task::JoinSet;
use uuid::Uuid;

fn bulk(uuids: &[String]) -> Value {
    json!({"grid_limit_uuids": uuids})
}

#[tokio::test(flavor = "multi_thread")]
async fn an_occurrence_is_deleted_until_a_quarter_of_an_hour_before_it_starts_both_ways() {
    let fixture = Fixture::at(QUARTER - 3600).await;
    let last = QUARTER - 900;
    for (now_us, deletable) in [
        ((last - 1) * 1_000_000, true),
        (last * 1_000_000, true),
        (last * 1_000_000 + 1, false),
        ((last + 1) * 1_000_000, false),
        (QUARTER * 1_000_000, false),
        ((QUARTER + 86_400) * 1_000_000, false),
    ] {
        fixture.set_clock(QUARTER - 3600);
        let one = fixture.created(QUARTER).await;
        let other = fixture.created(QUARTER).await;
        let later = fixture.created(QUARTER + 900).await;
        let before = fixture.stored().await;
        fixture.api.clock.set_micros(now_us);
        let single = fixture.delete(&one).await;
        let several = fixture.bulk_delete(&bulk(&[later, other])).await;
        if deletable {
            assert_eq!((single.status, several.status), (204, 204), "{now_us}");
            assert_eq!((single.text.as_str(), several.text.as_str()), ("", ""));
            assert_eq!(fixture.stored().await, before - 3);
        } else {
            breaks(&single, &[("/grid_limit_uuid", "too_early")]);
            let told = several.violations();
            let second = ("/grid_limit_uuids/1".to_owned(), "too_early".to_owned());
            assert!(several.status == 400 && told.contains(&second), "{now_us}");
            let started = usize::from(now_us > QUARTER * 1_000_000);
            assert_eq!(told.len(), 1 + started, "{now_us}");
            assert_eq!(fixture.stored().await, before);
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_bulk_deletion_that_breaks_a_rule_deletes_nothing() {
    let fixture = Fixture::at(QUARTER - 3600).await;
    let early = fixture.created(QUARTER).await;
    let late = fixture.created(QUARTER + 1800).await;
    fixture.set_clock(QUARTER - 899);
    let field = |index: usize| format!("/grid_limit_uuids/{index}");
    let uuids = |uuids: &[&str]| json!({"grid_limit_uuids": uuids});
    let unknown = Uuid::new_v4().to_string();

    let answer = fixture.bulk_delete(&uuids(&[&late, &early])).await;
    breaks(&answer, &[(&field(1), "too_early")]);
    for all in [
        &[late.as_str(), &unknown][..],
        &[&unknown, &late],
        &[&unknown, &early],
        &[&early, &late, &unknown],
    ] {
        let answer = fixture.bulk_delete(&uuids(all)).await;
        assert_eq!((answer.status, answer.code()), (404, "not_found"));
    }
    let upper = late.to_uppercase();
    let answer = fixture.bulk_delete(&uuids(&[&late, &upper])).await;
    breaks(&answer, &[(&field(1), "repeated")]);
    let bare = late.replace('-', "");
    let answer = fixture
        .bulk_delete(&json!({"grid_limit_uuids": [late, "x", bare, 5, null, unknown], "x": 1}))
        .await;
    let mut expected: Vec<_> = (1..5).map(|index| (field(index), "not_a_uuid")).collect();
    expected.push(("/x".to_owned(), "unknown_property"));
    let expected: Vec<_> = expected.iter().map(|(f, c)| (f.as_str(), *c)).collect();
    breaks(&answer, &expected);
    breaks(
        &fixture.bulk_delete(&uuids(&[])).await,
        &[("/grid_limit_uuids", "too_few")],
    );
    breaks(
        &fixture.bulk_delete(&json!({})).await,
        &[("/grid_limit_uuids", "required")],
    );
    breaks(
        &fixture
            .bulk_delete(&json!({"grid_limit_uuids": late}))
            .await,
        &[("/grid_limit_uuids", "not_an_array")],
    );
    assert_eq!(fixture.stored().await, 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hundred_are_deleted_at_once_and_not_one_more() {
    let fixture = Fixture::at(QUARTER - 3600).await;
    let mut uuids = Vec::new();
    for _ in 0..101 {
        uuids.push(fixture.created(QUARTER).await);
    }
    let answer = fixture.bulk_delete(&bulk(&uuids)).await;
    breaks(&answer, &[("/grid_limit_uuids", "too_many")]);
    assert_eq!(fixture.stored().await, 101);
    let answer = fixture.bulk_delete(&bulk(&uuids[1..])).await;
    assert_eq!(answer.status, 204, "{}", answer.text);
    assert_eq!(fixture.stored().await, 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_bulk_deletion_that_loses_one_to_another_deletion_deletes_nothing() {
    let fixture = Fixture::at(QUARTER - 3600).await;
    let mut uuids = Vec::new();
    for _ in 0..3 {
        uuids.push(fixture.created(QUARTER).await);
    }
    // Another deletion holds the second one, and commits while the bulk deletion waits for it.
    let mut other = fixture.world.database.begin().await.unwrap();
    sqlx::query("delete from grid_limit where grid_limit_uuid = $1::uuid")
        .bind(&uuids[1])
        .execute(&mut *other)
        .await
        .unwrap();
    let body = bulk(&uuids);
    let commit = async {
        let waiting = "select count(*) from pg_locks where not granted";
        eventually(async || match fixture.world.count(waiting).await {
            0 => Err("nobody waits"),
            _ => Ok(()),
        })
        .await;
        other.commit().await.unwrap();
    };
    let (answer, ()) = tokio::join!(fixture.bulk_delete(&body), commit);
    assert_eq!(answer.status, 404, "{}", answer.text);
    assert_eq!(fixture.stored().await, 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn of_concurrent_deletions_of_the_same_occurrences_one_wins() {
    let fixture = Fixture::at(QUARTER - 3600).await;
    for _ in 0..10 {
        let mut uuids = Vec::new();
        for _ in 0..8 {
            uuids.push(fixture.created(QUARTER).await);
        }
        let mut tasks = JoinSet::new();
        for turn in 0..8 {
            // Each names them in another order.
            uuids.rotate_left(turn);
            let (client, body) = (fixture.client.clone(), bulk(&uuids));
            let path = format!("{}bulk-delete/", fixture.schedule());
            tasks.spawn(async move {
                let answer = client.send(testkit::Method::POST, &path, Some(&body));
                answer.await.status
            });
        }
        let mut statuses = tasks.join_all().await;
        statuses.sort_unstable();
        assert_eq!(statuses, [204, 404, 404, 404, 404, 404, 404, 404]);
        assert_eq!(fixture.stored().await, 0);
    }
}
