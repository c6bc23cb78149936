//! What is refused: one clear line, and nothing changed.

use super::{everything, out, told};
use crate::WATTLINE;
use testkit::{Mode, World};
use uuid::Uuid;

#[tokio::test(flavor = "multi_thread")]
async fn what_is_not_there_is_told_in_one_line_with_exit_code_1() {
    let world = World::new(WATTLINE, Mode::Direct).await;
    let known = &world.building().to_string();
    let nobody = &Uuid::new_v4().to_string();
    let before = everything(&world).await;
    let sensor = [
        "admin", "sensor", "add", nobody, "--hub", nobody, "--name", "x", "--kind", "heat",
    ];
    let building = format!("there is no building {nobody}");
    let user = "there is no user \"grace\"";
    for (arguments, expected) in [
        (
            &["admin", "building", "disable", nobody][..],
            building.as_str(),
        ),
        (&["admin", "building", "remove", nobody, "--yes"], &building),
        (&["admin", "user", "disable", "grace"], user),
        (&["admin", "user", "enable", "grace"], user),
        (&["admin", "user", "remove", "grace"], user),
        (
            &["admin", "link", "add", "grace", known, "--role", "viewer"],
            user,
        ),
        (
            &["admin", "link", "add", "ada", nobody, "--role", "viewer"],
            &building,
        ),
        (&["admin", "link", "disable", "grace", known], user),
        (&["admin", "link", "disable", "ada", nobody], &building),
        (&["admin", "link", "list", "--user", "grace"], user),
        (&["admin", "link", "list", "--building", nobody], &building),
        (
            &["admin", "sensor", "list", "--building", nobody],
            &building,
        ),
        (&["admin", "sensor", "remove", nobody], "there is no sensor"),
        (&[&sensor[..], &["--building", nobody]].concat(), &building),
        (
            &[&sensor[..], &["--building", known]].concat(),
            "it needs a name and a kind",
        ),
        (&["admin", "token", "list", "grace"], user),
        (&["admin", "token", "revoke", "grace", "--all"], user),
        (
            &["admin", "token", "revoke", "ada", nobody],
            "no refresh token",
        ),
    ] {
        let output = world.attempt(arguments);
        let told = told(&output);
        assert_eq!(output.status.code(), Some(1), "{arguments:?}: {told}");
        assert_eq!(told.lines().count(), 1, "{told}");
        assert!(told.contains(expected), "{arguments:?}: {told}");
        assert_eq!(out(&output), "", "{arguments:?}");
    }
    assert_eq!(everything(&world).await, before);
}

#[tokio::test(flavor = "multi_thread")]
async fn wrong_usage_ends_with_code_2_and_names_what_is_expected() {
    let world = World::new(WATTLINE, Mode::Direct).await;
    let known = &world.building().to_string();
    let before = everything(&world).await;
    let add = ["admin", "building", "add", known];
    let sensor = [
        "admin",
        "sensor",
        "add",
        known,
        "--hub",
        known,
        "--building",
        known,
        "--name",
        "x",
    ];
    let long = "x".repeat(201);
    for (arguments, input, expected) in [
        (&["admin"][..], "", "Usage"),
        (&["admin", "user"], "", "Usage"),
        (
            &["admin", "building", "add", "depot", "--name", "x"],
            "",
            "<UUID>",
        ),
        (&add[..], "", "--name"),
        (&[&add[..], &["--name", " "]].concat(), "", "not empty"),
        (
            &[&add[..], &["--name", "a\nb"]].concat(),
            "",
            "control characters",
        ),
        (
            &[&add[..], &["--name", "x", "--timezone", "Mars/Base"]].concat(),
            "",
            "expected an IANA name",
        ),
        (
            &["admin", "building", "remove", known],
            "",
            "--yes is expected",
        ),
        (&["admin", "user", "add", ""], "x", "not empty"),
        (&["admin", "user", "add", &long], "x", "at most 200"),
        (
            &["admin", "user", "add", "grace"],
            "",
            "a password that is not empty",
        ),
        (
            &["admin", "user", "add", "grace"],
            "\nx",
            "a password that is not empty",
        ),
        (
            &["admin", "user", "add", "grace"],
            &"x".repeat(1_001),
            "at most 1,000 bytes",
        ),
        (
            &["admin", "user", "add", "grace", "sesame"],
            "",
            "unexpected argument",
        ),
        (&["admin", "link", "add", "ada", known], "", "--role"),
        (
            &["admin", "link", "add", "ada", known, "--role", "king"],
            "",
            "expected viewer or operator",
        ),
        (
            &[&sensor[..], &["--kind", "steam"]].concat(),
            "",
            "expected one of delivery",
        ),
        (
            &[&sensor[..], &["--kind", "heat", "--min-interval", "hour"]].concat(),
            "",
            "expected minute, quarter or day",
        ),
        (&["admin", "token", "revoke", "ada"], "", "JTI"),
        (
            &["admin", "token", "revoke", "ada", known, "--all"],
            "",
            "--all",
        ),
    ] {
        let output = world.attempt_with_input(arguments, input);
        let told = told(&output);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {told}");
        assert!(told.contains(expected), "{arguments:?}: {told}");
    }
    assert_eq!(everything(&world).await, before);
}

#[tokio::test(flavor = "multi_thread")]
async fn removing_a_building_without_a_yes_tells_what_would_go() {
    let world = World::new(WATTLINE, Mode::Direct).await;
    let known = &world.building().to_string();
    let before = everything(&world).await;
    let output = world.attempt(&["admin", "building", "remove", known]);
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(everything(&world).await, before);
    let agreed = world.command(&["admin", "building", "remove", known, "--yes"]);
    assert_eq!(out(&output), agreed);
    assert!(
        agreed.starts_with(&format!("- building {known}")),
        "{agreed}"
    );
}
