//! The list: newest first, page by page.

use super::{Fixture, NOW, breaks, charge, path};
use serde_json::{Value, json};
use testkit::{Answer, Method};
use uuid::Uuid;

async fn list(fixture: &Fixture, path: &str) -> Answer {
    let answer = fixture.ada.send(Method::GET, path, None).await;
    assert_eq!(answer.status, 200, "{path}: {}", answer.text);
    answer
}

fn uuids(answer: &Answer) -> Vec<String> {
    let actions = answer.body.as_array().unwrap().iter();
    actions
        .map(|it| it["action_uuid"].as_str().unwrap().to_owned())
        .collect()
}

fn next(answer: &Answer) -> Option<String> {
    let link = answer.header("link").strip_prefix("</public-api")?;
    Some(link.strip_suffix(">; rel=\"next\"").unwrap().to_owned())
}

/// Stores actions as the service would, each with two steps; the same moment for all.
async fn store(fixture: &Fixture, building: Uuid, count: i32) {
    sqlx::query(
        "with taken as ( \
            insert into action (building_uuid, action_uuid, created_at, username, address, family, body, \
                revision, status) \
            select $1, gen_random_uuid(), to_timestamp($2), 'ada', '::1', 'battery', \
                json_build_object('n', n), n, 'published' from generate_series(1, $3) n \
            returning * \
        ) insert into action_step (building_uuid, action_uuid, status, at, detail) \
        select building_uuid, action_uuid, word, created_at, 'test' \
        from taken, unnest(array['accepted', 'published']) word",
    )
    .bind(building)
    .bind(NOW)
    .bind(count)
    .execute(&fixture.world.database)
    .await
    .unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn two_hundred_and_fifty_come_in_three_pages_each_once_newest_first() {
    let fixture = Fixture::at(NOW).await;
    store(&fixture, fixture.building, 150).await;
    store(&fixture, fixture.other, 30).await;
    store(&fixture, fixture.building, 100).await;
    let query = format!(
        "select action_uuid::text as u from action where building_uuid = '{}' order by number desc",
        fixture.building
    );
    let rows = fixture.world.rows(&query).await;
    let all: Vec<String> = rows
        .iter()
        .map(|it| it["u"].as_str().unwrap().to_owned())
        .collect();
    let mut pages = Vec::new();
    let mut path = Some(fixture.path());
    while let Some(asked) = path {
        let page = list(&fixture, &asked).await;
        for action in page.body.as_array().unwrap() {
            let statuses = action["history"].as_array().unwrap().iter();
            let statuses: Vec<&Value> = statuses.map(|it| &it["status"]).collect();
            assert_eq!(statuses, ["accepted", "published"]);
        }
        path = next(&page);
        pages.push(uuids(&page));
        // What comes meanwhile stands before the first page and moves nothing.
        if pages.len() < 3 {
            store(&fixture, fixture.building, 7).await;
        }
    }
    let lengths: Vec<usize> = pages.iter().map(Vec::len).collect();
    assert_eq!((lengths, pages.concat()), (vec![100, 100, 50], all));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_full_last_page_has_no_link_and_an_empty_list_is_one() {
    let fixture = Fixture::at(NOW).await;
    assert_eq!(list(&fixture, &fixture.path()).await.body, json!([]));
    store(&fixture, fixture.building, 100).await;
    let page = list(&fixture, &fixture.path()).await;
    assert_eq!((uuids(&page).len(), next(&page)), (100, None));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_list_tells_of_each_action_what_its_own_path_tells() {
    let fixture = Fixture::at(NOW).await;
    let mut paths = Vec::new();
    for watts in 0..3 {
        fixture.set_clock(NOW + watts);
        paths.push(fixture.acted(&charge(watts)).await);
    }
    let mut expected = Vec::new();
    for path in paths.iter().rev() {
        expected.push(fixture.ada.get(path).await.1);
    }
    assert_eq!(list(&fixture, &fixture.path()).await.body, json!(expected));
    let fates: Vec<_> = expected
        .iter()
        .map(|it| (&it["status"], &it["ended_at"]))
        .collect();
    let superseded = json!("superseded");
    let expected = [
        (&json!("accepted"), &Value::Null),
        (&superseded, &json!(NOW + 2)),
        (&superseded, &json!(NOW + 1)),
    ];
    assert_eq!(fates, expected);
    assert_eq!(list(&fixture, &path(fixture.other)).await.body, json!([]));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cursor_that_is_none_is_told() {
    let fixture = Fixture::at(NOW).await;
    let check = async |query: &str, code: &str| {
        let path = format!("{}?{query}", fixture.path());
        let answer = fixture.ada.send(Method::GET, &path, None).await;
        breaks(&answer, &[("/cursor", code)]);
    };
    for odd in ["", "x", "0", "-1", "1.5", "9223372036854775808", "%00"] {
        check(&format!("cursor={odd}"), "not_a_cursor").await;
    }
    check("cursor=1&cursor=1", "repeated").await;
}
