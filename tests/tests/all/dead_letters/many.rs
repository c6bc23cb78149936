//! Hundreds of thousands of letters: every command goes through an index, and counts right.

use super::list;
use super::replay::replay;
use crate::WATTLINE;
use serde_json::{Value, json};
use sqlx::Row as _;
use testkit::{Mode, World};
use uuid::Uuid;

/// Two thousand seconds, in each of them a letter of every building; every tenth building is refused for another
/// reason. A third of all were replayed.
const FILL: &str = "
    insert into dead_letter (building_uuid, reason, pointer, detail, source, received_at, payload,
        content_sha256, replayed_at, outcome)
    select md5(building::text)::uuid, case when building % 10 = 0 then 'schema' else 'unknown_building' end,
        '', 'x', 'v1/buildings/' || md5(building::text)::uuid || '/telemetry',
        timestamptz '2026-01-01Z' + second * interval '1 second', repeat('x', 200)::bytea,
        decode(md5(building || '/' || second), 'hex'),
        case when second % 3 = 0 then timestamptz '2026-02-01Z' end,
        case when second % 3 = 0 then 'stored' end
    from generate_series(1, 100) building, generate_series(0, 1999) second";

async fn filled() -> World {
    let world = World::new(WATTLINE, Mode::Direct).await;
    for statement in [FILL, "vacuum analyze dead_letter"] {
        sqlx::query(statement)
            .execute(&world.database)
            .await
            .unwrap();
    }
    world
}

fn building(number: u32) -> Uuid {
    // As the database makes them.
    let digests = [
        (1, "c4ca4238-a0b9-2382-0dcc-509a6f75849b"),
        (10, "d3d94468-02a4-4259-755d-38e6d163e820"),
    ];
    let found = digests.iter().find(|(of, _)| *of == number).unwrap();
    found.1.parse().unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn letters_are_counted_and_listed_by_reason_building_and_time() {
    let world = filled().await;
    let stats = |arguments: &[&str]| -> Vec<Value> {
        let stats = ["dead-letters", "stats", "--format", "json"];
        let told = world.command(&[&stats, arguments].concat());
        told.lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect()
    };
    let all = stats(&[]);
    assert_eq!(all.len(), 100);
    let sum: i64 = all.iter().map(|it| it["count"].as_i64().unwrap()).sum();
    assert_eq!(sum, 133_300);
    let one = building(10).to_string();
    let of_one = json!({"reason": "schema", "building_uuid": one, "count": 1_333,
        "first_received_at": "2026-01-01T00:00:01.000000Z", "last_received_at": "2026-01-01T00:33:19.000000Z"});
    assert_eq!(stats(&["--building", &one]), [of_one]);
    let replayed = stats(&["--building", &one, "--replayed"]);
    assert_eq!(replayed[0]["count"], 667);
    assert_eq!(stats(&["--reason", "schema"]).len(), 10);
    let since = [
        "--since",
        "2026-01-01T00:33:00Z",
        "--until",
        "2026-01-01T00:33:10Z",
    ];
    let counted = stats(&[&since[..], &["--reason", "schema"]].concat());
    assert_eq!((counted.len(), &counted[0]["count"]), (10, &json!(6)));

    assert_eq!(list(&world, &["--building", &one]).len(), 1_333);
    assert_eq!(list(&world, &["--building", &one, "--replayed"]).len(), 667);
    let listed = list(&world, &[&since[..], &["--reason", "schema"]].concat());
    assert_eq!(listed.len(), 60);
    assert_eq!(list(&world, &["--reason", "schema"]).len(), 13_330);
    let told = replay(&world, &["--building", &one, "--dry-run"]);
    assert_eq!(told["refused"]["not_json"], 1_333);
}

/// Rows that a page may touch: itself, and some.
const ROWS: f64 = 2_500.0;

macro_rules! statement {
    ($name:literal) => {
        include_str!(concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/../crates/store/src/queries/",
            $name,
            ".sql"
        ))
    };
}

#[tokio::test(flavor = "multi_thread")]
async fn every_page_of_letters_is_found_by_an_index() {
    let world = filled().await;
    let mut connection = world.database.acquire().await.unwrap();
    let of_one = format!("null, '{}', null, null", building(1));
    let filters = [
        "null, null, null, null",
        &of_one,
        "'schema', null, null, null",
        "null, null, '2026-01-01T00:33:00Z', '2026-01-01T00:33:05Z'",
        "'schema', null, '2026-01-01T00:33:00Z', null",
    ];
    let filter = "text, uuid, timestamptz, timestamptz";
    let behind = "'2026-01-01T00:20:00Z', 5";
    let statements = [
        (
            statement!("dead_letters"),
            format!("{filter}, boolean, timestamptz, bigint, bigint"),
            vec![
                "false, null, null, 1000".to_owned(),
                format!("false, {behind}, 1000"),
            ],
        ),
        (
            statement!("replay_page"),
            format!("{filter}, bigint[], timestamptz, bigint, bigint, bigint"),
            vec![
                "null, null, null, 500, 2000000".to_owned(),
                format!("null, {behind}, 500, 2000000"),
                "'{7, 8, 9}', null, null, 500, 2000000".to_owned(),
            ],
        ),
    ];
    for (statement, types, rests) in &statements {
        let mut run = async |text: &str| {
            sqlx::raw_sql(text)
                .fetch_all(&mut *connection)
                .await
                .unwrap()
        };
        run("set plan_cache_mode = force_custom_plan").await;
        run(&format!("prepare page ({types}) as {statement}")).await;
        for filter in filters {
            for rest in rests {
                let explained = run(&format!(
                    "explain (analyze, format json) execute page ({filter}, {rest})"
                ))
                .await;
                let plan: Value = explained[0].get(0);
                let touched = touched(&plan[0]["Plan"]);
                assert!(touched <= ROWS, "{filter}, {rest}: {touched}\n{plan:#}");
            }
        }
        run("deallocate page").await;
    }
}

/// Rows that the scans of a plan looked at.
fn touched(plan: &Value) -> f64 {
    let number = |key: &str| plan[key].as_f64().unwrap_or_default();
    let is_scan = plan["Node Type"].as_str().unwrap().ends_with("Scan");
    let own = if is_scan && plan["Relation Name"] == "dead_letter" {
        number("Actual Rows") + number("Rows Removed by Filter")
    } else {
        0.0
    };
    let below = plan["Plans"].as_array().map_or(&[][..], Vec::as_slice);
    own + below.iter().map(touched).sum::<f64>()
}
