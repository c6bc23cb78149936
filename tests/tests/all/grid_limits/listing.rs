//! The list: its order, its bounds, its pages.

use super::{Fixture, QUARTER, breaks, creation, uuid};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use testkit::{Answer, Method};

const DAY: i64 = 86_400;

async fn list(fixture: &Fixture, query: &str) -> Answer {
    let path = format!("{}{query}", fixture.schedule());
    let answer = fixture.client.send(Method::GET, &path, None).await;
    assert_eq!(answer.status, 200, "{query}: {}", answer.text);
    answer
}

fn occurrences(answer: &Answer) -> Vec<(i64, String)> {
    let occurrence = |it: &Value| (it["start_time"].as_i64().unwrap(), uuid(it));
    answer
        .body
        .as_array()
        .unwrap()
        .iter()
        .map(occurrence)
        .collect()
}

/// The pages from the first one on, by their links; `between` happens after each.
async fn pages(
    fixture: &Fixture,
    query: &str,
    between: impl AsyncFn(usize),
) -> Vec<Vec<(i64, String)>> {
    let mut pages = Vec::new();
    let mut query = query.to_owned();
    loop {
        let answer = list(fixture, &query).await;
        pages.push(occurrences(&answer));
        between(pages.len()).await;
        let link = answer.header("link");
        if link.is_empty() {
            return pages;
        }
        let target = link.strip_prefix('<').unwrap();
        let target = target.strip_suffix(">; rel=\"next\"").unwrap();
        let prefix = format!("/public-api{}", fixture.schedule());
        query = target.strip_prefix(&prefix).unwrap().to_owned();
    }
}

/// Stores occurrences as the service would; many share a start.
async fn store(fixture: &Fixture, count: i32, start: i64, step: i64, share: i32) {
    sqlx::query(
        "insert into grid_limit select $1, gen_random_uuid(), to_timestamp($2 + n / $5 * $4), \
         to_timestamp($2 + n / $5 * $4 + 900), 1, 2 from generate_series(0, $3 - 1) n",
    )
    .bind(fixture.building)
    .bind(start)
    .bind(count)
    .bind(step)
    .bind(share)
    .execute(&fixture.world.database)
    .await
    .unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn two_and_a_half_thousand_come_in_three_pages_each_once_and_in_order() {
    let fixture = Fixture::at(QUARTER).await;
    store(&fixture, 2_500, QUARTER + 900, 900, 700).await;
    let all: Vec<(i64, String)> = fixture
        .world
        .rows("select extract(epoch from start_time)::bigint as s, grid_limit_uuid as u from grid_limit")
        .await
        .iter()
        .map(|row| (row["s"].as_i64().unwrap(), row["u"].as_str().unwrap().to_owned()))
        .collect();
    let all: BTreeSet<_> = all.into_iter().collect();
    let all: Vec<_> = all.into_iter().collect();
    for query in ["", &format!("?from={QUARTER}&until={}", QUARTER + DAY)] {
        let pages = pages(&fixture, query, async |_| {}).await;
        let lengths: Vec<usize> = pages.iter().map(Vec::len).collect();
        assert_eq!(lengths, [1_000, 1_000, 500]);
        assert_eq!(pages.concat(), all, "{query}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_full_last_page_has_no_link() {
    let fixture = Fixture::at(QUARTER).await;
    store(&fixture, 1_000, QUARTER + 900, 900, 1_000).await;
    let answer = list(&fixture, "").await;
    assert_eq!(
        (occurrences(&answer).len(), answer.header("link")),
        (1_000, "")
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn pages_skip_and_double_nothing_while_occurrences_come_and_go() {
    let fixture = Fixture::at(QUARTER).await;
    store(&fixture, 2_100, QUARTER + 900, 900, 1_500).await;
    let stays = list(&fixture, "").await;
    let path = format!("{}{}/", fixture.schedule(), occurrences(&stays)[999].1);
    let between = async |page: usize| {
        if page == 1 {
            // The very place of the cursor goes, and others come before it.
            let deleted = fixture.client.send(Method::DELETE, &path, None).await;
            assert_eq!(deleted.status, 204, "{}", deleted.text);
            store(&fixture, 50, QUARTER, 900, 50).await;
        }
    };
    let pages = pages(&fixture, "", between).await;
    let seen: Vec<_> = pages.concat();
    let distinct: BTreeSet<_> = seen.iter().collect();
    assert_eq!((seen.len(), distinct.len()), (2_100, 2_100));
}

#[tokio::test(flavor = "multi_thread")]
async fn without_from_the_list_has_all_that_have_not_ended_and_with_it_also_older_ones() {
    let fixture = Fixture::at(QUARTER - 3600).await;
    let create = async |start: i64, end: i64| {
        let body = creation(start, end);
        let schedule = fixture.schedule();
        let answer = fixture
            .client
            .send(Method::POST, &schedule, Some(&body))
            .await;
        assert_eq!(answer.status, 201, "{}", answer.text);
        uuid(&answer.body)
    };
    let short = create(QUARTER, QUARTER + 900).await;
    let long = create(QUARTER + 900, QUARTER + 7 * DAY).await;
    let next = create(QUARTER + 1800, QUARTER + 2700).await;
    let check = async |now: i64, query: String, expected: &[&String]| {
        fixture.set_clock(now);
        let path = format!("{}{query}", fixture.schedule());
        let (status, body) = fixture.client.get(&path).await;
        let found: Vec<String> = body.as_array().unwrap().iter().map(uuid).collect();
        let expected: Vec<String> = expected.iter().map(|it| (*it).clone()).collect();
        assert_eq!((status, found), (200, expected), "{now} {query}");
    };
    let none = String::new;
    check(QUARTER, none(), &[&short, &long, &next]).await;
    check(QUARTER + 899, none(), &[&short, &long, &next]).await;
    check(QUARTER + 900, none(), &[&long, &next]).await;
    check(QUARTER + 2700, none(), &[&long]).await;
    check(QUARTER + 7 * DAY - 1, none(), &[&long]).await;
    check(QUARTER + 7 * DAY, none(), &[]).await;
    let late = QUARTER + 7 * DAY;
    let from = |from: i64| format!("?from={from}");
    check(late, from(QUARTER), &[&short, &long, &next]).await;
    check(late, from(QUARTER + 1), &[&long, &next]).await;
    check(late, from(0), &[&short, &long, &next]).await;
    check(
        late,
        format!("?from=0&until={}", QUARTER + 1800),
        &[&short, &long],
    )
    .await;
    check(
        late,
        format!("?from=0&until={}", QUARTER + 1801),
        &[&short, &long, &next],
    )
    .await;
    check(late, format!("?from={QUARTER}&until={QUARTER}"), &[]).await;
    check(
        QUARTER + 900,
        format!("?until={}", QUARTER + 1800),
        &[&long],
    )
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_malformed_query_is_told_by_parameter() {
    let fixture = Fixture::at(QUARTER).await;
    let path = format!(
        "{}?from=today&until=1.5&cursor=x&page=2",
        fixture.schedule()
    );
    let answer = fixture.client.send(Method::GET, &path, None).await;
    let expected = [
        ("/from", "not_an_integer"),
        ("/until", "not_an_integer"),
        ("/cursor", "not_a_cursor"),
    ];
    breaks(&answer, &expected);
    assert_eq!(
        answer.body["errors"][0]["detail"],
        json!("from must be whole seconds since the epoch")
    );
}
