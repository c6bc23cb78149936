//! What an operator changes one at a time: told before it is made, made once, listed.

#[path = "administration/lists.rs"]
mod lists;
#[path = "administration/password.rs"]
mod password;
#[path = "administration/refusals.rs"]
mod refusals;
#[path = "administration/sensors.rs"]
mod sensors;

use crate::WATTLINE;
use serde_json::Value;
use std::collections::BTreeMap;
use std::process::Output;
use testkit::{Mode, World};
use uuid::Uuid;

/// Every row of every table, in an order of their own.
pub(crate) async fn everything(world: &World) -> BTreeMap<String, Vec<String>> {
    let tables = "select table_name from information_schema.tables \
                  where table_schema = 'public' and table_type = 'BASE TABLE' \
                    and not exists (select from pg_class where relname = table_name and relispartition)";
    let mut everything = BTreeMap::new();
    for table in world.rows(tables).await {
        let table = table["table_name"].as_str().unwrap().to_owned();
        let rows = world.rows(&format!("select * from {table}")).await;
        let mut rows: Vec<String> = rows.iter().map(Value::to_string).collect();
        rows.sort_unstable();
        everything.insert(table, rows);
    }
    everything
}

fn out(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

pub(crate) fn told(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

/// Makes a change: a dry run changes nothing and prints what the real run prints then. Answers with it.
pub(crate) async fn make(world: &World, arguments: &[&str], input: &str) -> Vec<String> {
    let before = everything(world).await;
    let dry = world.attempt_with_input(&[arguments, &["--dry-run"]].concat(), input);
    assert_eq!(dry.status.code(), Some(0), "{arguments:?}: {}", told(&dry));
    assert_eq!(everything(world).await, before, "{arguments:?}");
    assert!(told(&dry).contains("nothing was changed"), "{}", told(&dry));
    let real = world.attempt_with_input(arguments, input);
    assert_eq!(
        real.status.code(),
        Some(0),
        "{arguments:?}: {}",
        told(&real)
    );
    assert_eq!(out(&real), out(&dry), "{arguments:?}");
    let changed = out(&real) != "nothing to change\n";
    assert_eq!(everything(world).await != before, changed, "{arguments:?}");
    for text in [&dry, &real].map(|it| format!("{}{}", out(it), told(it))) {
        let secret = input.trim_end();
        assert!(secret.is_empty() || !text.contains(secret), "{text}");
        assert!(!text.contains("argon2"), "{text}");
    }
    out(&real).lines().map(str::to_owned).collect()
}

/// The same, and that the same again changes nothing.
async fn make_twice(world: &World, arguments: &[&str], input: &str) -> Vec<String> {
    let lines = make(world, arguments, input).await;
    assert_eq!(
        make(world, arguments, input).await,
        ["nothing to change"],
        "{arguments:?}"
    );
    lines
}

#[tokio::test(flavor = "multi_thread")]
async fn a_building_is_added_changed_disabled_and_removed() {
    let world = World::new(WATTLINE, Mode::Direct).await;
    let uuid = &Uuid::new_v4().to_string();
    let add = |name: &'static str| ["admin", "building", "add", uuid.as_str(), "--name", name];
    let row = |name: &str, disabled: bool| {
        format!(
            "building {uuid} name {name:?}, timezone UTC, \
             consumption_compensated_curtailment false, disabled {disabled}"
        )
    };
    let lines = make_twice(&world, &add("Depot"), "").await;
    assert_eq!(lines, [format!("+ {}", row("Depot", false))]);

    let more = [
        "--timezone",
        "Europe/Amsterdam",
        "--consumption-compensated-curtailment",
    ];
    let lines = make_twice(&world, &[&add("Yard")[..], &more].concat(), "").await;
    let change = "name \"Depot\" -> \"Yard\", timezone UTC -> Europe/Amsterdam, \
                  consumption_compensated_curtailment false -> true";
    assert_eq!(lines, [format!("~ building {uuid} {change}")]);
    // What is left out is the default again.
    let lines = make_twice(&world, &add("Yard"), "").await;
    assert_eq!(lines.len(), 1);

    for (verb, change) in [("disable", "false -> true"), ("enable", "true -> false")] {
        let lines = make_twice(&world, &["admin", "building", verb, uuid], "").await;
        assert_eq!(lines, [format!("~ building {uuid} disabled {change}")]);
    }
    let lines = make(&world, &["admin", "building", "remove", uuid, "--yes"], "").await;
    assert_eq!(lines, [format!("- {}", row("Yard", false))]);
    assert_eq!(world.count("select count(*) from building").await, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_user_is_added_gets_another_password_is_disabled_and_removed() {
    let world = World::new(WATTLINE, Mode::Direct).await;
    let add = ["admin", "user", "add", "ada"];
    let lines = make_twice(&world, &add, "open sesame\n").await;
    assert_eq!(lines, [r#"+ user "ada" disabled false"#]);
    // With and without the line's end, in either spelling, it is the same password.
    for same in ["open sesame", "open sesame\r\n", "open sesame\nmore\n"] {
        let output = world.attempt_with_input(&add, same);
        assert_eq!(out(&output), "nothing to change\n", "{same:?}");
    }
    let lines = make_twice(&world, &add, "close sesame\n").await;
    assert_eq!(lines, [r#"~ user "ada" password changed"#]);
    for (verb, change) in [("disable", "false -> true"), ("enable", "true -> false")] {
        let lines = make_twice(&world, &["admin", "user", verb, "ada"], "").await;
        assert_eq!(lines, [format!(r#"~ user "ada" disabled {change}"#)]);
    }
    world.command(&["admin", "user", "disable", "ada"]);
    let output = world.attempt_with_input(&add, "open sesame");
    assert!(told(&output).contains("is disabled"), "{}", told(&output));
    let lines = make(&world, &["admin", "user", "remove", "ada"], "").await;
    assert_eq!(lines, [r#"- user "ada" disabled true"#]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_link_is_added_changed_and_removed_and_goes_with_its_user_or_building() {
    let world = World::new(WATTLINE, Mode::Direct).await;
    let uuid = &world.building().to_string();
    world.attempt_with_input(&["admin", "user", "add", "grace"], "x");
    let add = |role: &'static str| {
        [
            "admin",
            "link",
            "add",
            "grace",
            uuid.as_str(),
            "--role",
            role,
        ]
    };
    let identity = format!(r#"link "grace" {uuid}"#);
    let lines = make_twice(&world, &add("viewer"), "").await;
    assert_eq!(lines, [format!("+ {identity} role viewer")]);
    let lines = make_twice(&world, &add("operator"), "").await;
    assert_eq!(lines, [format!("~ {identity} role viewer -> operator")]);
    let disable = ["admin", "link", "disable", "grace", uuid.as_str()];
    let lines = make_twice(&world, &disable, "").await;
    assert_eq!(lines, [format!("- {identity} role operator")]);

    make(&world, &add("viewer"), "").await;
    let lines = make(&world, &["admin", "user", "remove", "grace"], "").await;
    let gone = [
        r#"- user "grace" disabled false"#.to_owned(),
        format!("- {identity} role viewer"),
    ];
    assert_eq!(lines, gone);
    let lines = make(&world, &["admin", "building", "remove", uuid, "--yes"], "").await;
    assert_eq!(lines.len(), 2, "{lines:?}");
    assert_eq!(lines[1], format!(r#"- link "ada" {uuid} role operator"#));
}

#[tokio::test(flavor = "multi_thread")]
async fn tokens_are_revoked_one_by_one_and_all() {
    let world = World::new(WATTLINE, Mode::Direct).await;
    world.building();
    for hours in ["-1", "1", "2", "3"] {
        let insert = format!(
            "insert into refresh_token (jti, username, issued_at, expires_at) \
             values (gen_random_uuid(), 'ada', now() - interval '2 hours', \
                     now() + interval '{hours} hours')"
        );
        sqlx::query(&insert).execute(&world.database).await.unwrap();
    }
    let listed = || {
        let lines = world.command(&["admin", "token", "list", "ada", "--format", "json"]);
        let tokens = lines.lines().map(|line| {
            let token: Value = serde_json::from_str(line).unwrap();
            token["jti"].as_str().unwrap().to_owned()
        });
        tokens.collect::<Vec<String>>()
    };
    let outstanding = listed();
    assert_eq!(outstanding.len(), 3, "the expired one is not outstanding");
    let one = &outstanding[1];
    let lines = make_twice(&world, &["admin", "token", "revoke", "ada", one], "").await;
    assert_eq!(lines.len(), 1);
    assert!(
        lines[0].starts_with(&format!(r#"- token {one} user "ada", issued_at 2"#)),
        "{lines:?}"
    );
    let lines = make_twice(&world, &["admin", "token", "revoke", "ada", "--all"], "").await;
    assert_eq!(lines.len(), 2, "{lines:?}");
    assert!(listed().is_empty());
    let used = "select count(*) from refresh_token where used_at is not null";
    assert_eq!(world.count(used).await, 3);
}
