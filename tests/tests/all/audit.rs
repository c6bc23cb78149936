//! `wattline admin audit`: who asked what, when and from where, and what became of it.

use crate::actions::Fixture;
use serde_json::{Value, json};
use testkit::Method;
use uuid::Uuid;

/// A quarter hour, 2023-11-14T12:00:00Z.
const NOW: i64 = 1_699_963_200;

fn listed(fixture: &Fixture, arguments: &[&str]) -> Vec<Value> {
    let arguments = [&["admin", "audit", "--format", "json"], arguments].concat();
    let lines = fixture.world.command(&arguments);
    let objects = lines
        .lines()
        .map(|line| serde_json::from_str(line).unwrap());
    objects.collect()
}

fn charge(watts: i64) -> Value {
    json!({"battery_set_power_charge_watts": watts, "battery_set_power_timeout": 60})
}

fn last(path: &str) -> String {
    path.trim_end_matches('/')
        .rsplit('/')
        .next()
        .unwrap()
        .to_owned()
}

fn at(seconds: i64) -> String {
    let minute = seconds / 60 % 60;
    format!("2023-11-14T12:{minute:02}:{:02}.000000Z", seconds % 60)
}

struct Schedule<'a>(&'a Fixture);

impl Schedule<'_> {
    fn path(&self) -> String {
        format!("/buildings/{}/schedules/grid_limits/", self.0.building)
    }

    async fn create(&self, start: i64) -> Value {
        let body = json!({"start_timestamp": start, "end_timestamp": start + 900,
                          "delivery_limit_watts": 10_000, "return_delivery_limit_watts": 0});
        let answer = self
            .0
            .ada
            .send(Method::POST, &self.path(), Some(&body))
            .await;
        assert_eq!(answer.status, 201, "{}", answer.text);
        answer.body
    }

    async fn delete(&self, limit: &Value, status: u16) {
        let uuid = limit["grid_limit_uuid"].as_str().unwrap();
        let path = format!("{}{uuid}/", self.path());
        let answer = self.0.ada.send(Method::DELETE, &path, None).await;
        assert_eq!(answer.status, status, "{}", answer.text);
    }

    async fn delete_all(&self, limits: &[&Value], status: u16) {
        let uuids: Vec<&Value> = limits.iter().map(|it| &it["grid_limit_uuid"]).collect();
        let body = json!({"grid_limit_uuids": uuids});
        let path = format!("{}bulk-delete/", self.path());
        let answer = self.0.ada.send(Method::POST, &path, Some(&body)).await;
        assert_eq!(answer.status, status, "{}", answer.text);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn every_action_and_every_change_of_the_schedule_is_told_newest_first() {
    let fixture = Fixture::at(NOW).await;
    let schedule = Schedule(&fixture);
    let entry = |after: i64, operation: &str, subject: &Value, detail: &Value| {
        json!({"at": at(NOW + after), "username": "ada", "address": "127.0.0.1",
               "building_uuid": fixture.building, "operation": operation, "subject": subject,
               "status": null, "ended_at": null, "detail": detail})
    };
    let of_limit = |after: i64, operation: &str, limit: &Value| {
        entry(after, operation, &limit["grid_limit_uuid"], limit)
    };
    let first = last(&fixture.acted(&charge(1)).await);
    let mut limits = Vec::new();
    for number in 0..4 {
        fixture.api.advance_seconds(1);
        limits.push(schedule.create(NOW + 1800 + number * 900).await);
    }
    fixture.api.advance_seconds(1);
    schedule.delete(&limits[0], 204).await;
    fixture.api.advance_seconds(1);
    schedule.delete_all(&[&limits[2], &limits[1]], 204).await;
    let second = last(&fixture.acted(&charge(2)).await);

    let mut actions = [
        entry(0, "action", &json!(first), &charge(1)),
        entry(6, "action", &json!(second), &charge(2)),
    ];
    actions[0]["status"] = json!("superseded");
    actions[0]["ended_at"] = json!(at(NOW + 6));
    actions[1]["status"] = json!("accepted");
    let expected = [
        actions[1].clone(),
        of_limit(6, "grid_limit_deleted", &limits[1]),
        of_limit(6, "grid_limit_deleted", &limits[2]),
        of_limit(5, "grid_limit_deleted", &limits[0]),
        of_limit(4, "grid_limit_created", &limits[3]),
        of_limit(3, "grid_limit_created", &limits[2]),
        of_limit(2, "grid_limit_created", &limits[1]),
        of_limit(1, "grid_limit_created", &limits[0]),
        actions[0].clone(),
    ];
    assert_eq!(listed(&fixture, &[]), expected);

    // What was asked is remembered longer than the action, the user and the building.
    let building = fixture.building.to_string();
    fixture
        .world
        .command(&["admin", "building", "remove", &building, "--yes"]);
    fixture.world.command(&["admin", "user", "remove", "ada"]);
    let kept = listed(&fixture, &["--user", "ada", "--building", &building]);
    assert_eq!(kept.len(), expected.len());
    assert_eq!(
        (&kept[0]["status"], &kept[0]["detail"]),
        (&Value::Null, &charge(2))
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_refused_leaves_no_trace() {
    let fixture = Fixture::at(NOW).await;
    let schedule = Schedule(&fixture);
    let early = schedule.create(NOW + 1800).await;
    let late = schedule.create(NOW + 3600).await;
    fixture.api.advance_seconds(901);
    assert_eq!(fixture.act(&charge(-1)).await.status, 400);
    schedule.delete(&early, 400).await;
    schedule.delete_all(&[&late, &early], 400).await;
    let unknown = json!({"grid_limit_uuid": Uuid::new_v4()});
    schedule.delete_all(&[&late, &unknown], 404).await;
    let bob = fixture.client("bob").await;
    let answer = bob
        .send(Method::POST, &fixture.path(), Some(&charge(1)))
        .await;
    assert_eq!(answer.status, 403);
    let operations = listed(&fixture, &[]);
    let operations: Vec<_> = operations.iter().map(|it| &it["operation"]).collect();
    assert_eq!(operations, ["grid_limit_created", "grid_limit_created"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn entries_are_listed_by_building_user_and_time_and_at_most_so_many() {
    let fixture = Fixture::at(NOW).await;
    let grace = fixture.client("grace").await;
    let other = format!("/buildings/{}/actions/", fixture.other);
    for (number, (client, path)) in [
        (&fixture.ada, fixture.path()),
        (&grace, fixture.path()),
        (&fixture.ada, other),
    ]
    .into_iter()
    .enumerate()
    {
        let watts = i64::try_from(number).unwrap();
        let answer = client.send(Method::POST, &path, Some(&charge(watts))).await;
        assert_eq!(answer.status, 204, "{}", answer.text);
        fixture.api.advance_seconds(10);
    }
    let found = |arguments: &[&str]| -> Vec<i64> {
        let entries = listed(&fixture, arguments);
        let watts = entries
            .iter()
            .map(|it| &it["detail"]["battery_set_power_charge_watts"]);
        watts.map(|it| it.as_i64().unwrap()).collect()
    };
    let (building, other) = (fixture.building.to_string(), fixture.other.to_string());
    assert_eq!(found(&[]), [2, 1, 0]);
    assert_eq!(found(&["--limit", "2"]), [2, 1]);
    assert_eq!(found(&["--building", &building]), [1, 0]);
    assert_eq!(found(&["--building", &other, "--user", "grace"]), [0; 0]);
    assert_eq!(found(&["--user", "ada"]), [2, 0]);
    assert_eq!(found(&["--since", &at(NOW + 10)]), [2, 1]);
    assert_eq!(found(&["--until", &at(NOW + 10)]), [0]);
    let (since, until) = ((NOW + 1).to_string(), (NOW + 20).to_string());
    assert_eq!(found(&["--since", &since, "--until", &until]), [1]);
    for wrong in [
        ["--limit", "0"],
        ["--since", "yesterday"],
        ["--building", "x"],
    ] {
        let output = fixture
            .world
            .attempt(&[&["admin", "audit"], &wrong[..]].concat());
        assert_eq!(output.status.code(), Some(2), "{wrong:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_text_form_is_a_line_an_entry_with_the_beginning_of_the_body() {
    let fixture = Fixture::at(NOW).await;
    let body = format!(
        "{{\n{}\"battery_set_power_timeout\": 60,\n\"battery_set_power_charge_watts\": 7}}",
        " ".repeat(500)
    );
    let answer = fixture.ada.post_bytes(&fixture.path(), body).await;
    assert_eq!(answer.status, 204, "{}", answer.text);
    let subject = last(answer.header("location"));
    let text = fixture.world.command(&["admin", "audit"]);
    let lines: Vec<&str> = text.lines().collect();
    let words: Vec<&str> = lines[0].split_whitespace().collect();
    let columns = [
        "at",
        "username",
        "address",
        "building_uuid",
        "operation",
        "subject",
        "status",
        "ended_at",
        "detail",
    ];
    assert_eq!((words, lines.len()), (columns.to_vec(), 2));
    assert!(
        lines[1].contains(&format!("  action     {subject}  accepted  -")),
        "{text}"
    );
    let end = "{ \"battery_set_power_timeout\": 60, \"battery_set_power_charge_watts\": 7}";
    assert!(lines[1].ends_with(end), "{text}");
}
