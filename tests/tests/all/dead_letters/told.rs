//! What a controller wrote does nothing to the terminal of whoever looks at it.

use super::listed;
use crate::WATTLINE;
use serde_json::{Value, json};
use testkit::{Mode, World, eventually};

/// A key that ends the line, changes colours, sets the window's title, and begins a sequence with one character.
const KEY: &str = "a\n7  schema  forged\r\u{1b}[31m\u{1b}]0;x\u{7}\u{9b}2J\u{7f}";

#[tokio::test(flavor = "multi_thread")]
async fn no_payload_ends_a_line_or_moves_the_cursor_of_who_lists_it() {
    let world = World::new(WATTLINE, Mode::Direct).await;
    let building = world.building();
    let _serve = world.serve().await;
    let controller = world.controller();
    controller
        .telemetry(building, json!({"time": 1, KEY: 2}).to_string())
        .await;
    let letter = eventually(async || listed(&world).pop().ok_or("none yet")).await;
    assert_eq!(
        letter["pointer"],
        format!("/{KEY}"),
        "JSON says what it was"
    );
    let id = letter["id"].to_string();
    let harmless = |arguments: &[&str]| {
        let told = world.command(&[&["dead-letters"], arguments].concat());
        let odd = |it: char| it.is_control() && it != '\n';
        assert!(!told.contains(odd), "{arguments:?}: {told:?}");
        told
    };
    let lists: [&[&str]; 3] = [&["list"], &["list", "--format", "json"], &["show", &id]];
    for arguments in lists {
        assert_eq!(harmless(arguments).lines().count(), 1, "{arguments:?}");
    }
    let shown: Value = serde_json::from_str(&harmless(&["show", &id])).unwrap();
    assert_eq!(shown["pointer"], letter["pointer"]);
    // The letter, and three lines of what became of it.
    let replayed = harmless(&["replay", &id]);
    assert_eq!(replayed.lines().count(), 5, "{replayed}");
    assert!(
        replayed.contains(r"/a\u000a7  schema  forged\u000d\u001b[31m"),
        "{replayed}"
    );
}
