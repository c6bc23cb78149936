//! Bodies: good ones of each operation, and what can be done to any.

use super::requests::Known;
use super::wishes::wish;
use crate::openapi::examples::NOW;
use rand::RngExt as _;
use rand::seq::IndexedRandom as _;
use rand_chacha::ChaCha8Rng;
use serde_json::{Value, json};

/// A good body of an operation.
pub(super) fn body(random: &mut ChaCha8Rng, id: &str, known: &Known) -> Value {
    match id {
        "createGridLimit" => {
            let first = (NOW / 900 + 2) * 900;
            let start = first + 900 * random.random_range(0..100);
            json!({
                "start_timestamp": start,
                "end_timestamp": start + 900 * random.random_range(1..100),
                "delivery_limit_watts": random.random_range(0..=i32::MAX),
                "return_delivery_limit_watts": random.random_range(0..=i32::MAX),
            })
        }
        "deleteGridLimits" => {
            let count = random.random_range(1..4);
            let mut uuids: Vec<&String> = known.grid_limits.sample(random, count).collect();
            uuids.dedup();
            json!({"grid_limit_uuids": uuids})
        }
        "createAction" => wish(random, known),
        other => panic!("{other} has no generator of bodies"),
    }
}

/// The body with something done to it.
pub(crate) fn mutated_body(random: &mut ChaCha8Rng, body: &[u8]) -> Vec<u8> {
    let tree = serde_json::from_slice::<Value>(body).ok();
    match (tree, random.random_range(0..8)) {
        (Some(mut tree), 0..5) => {
            mutate(random, &mut tree);
            tree.to_string().into_bytes()
        }
        (_, 5) => {
            let mut bytes = body.to_vec();
            bytes.truncate(random.random_range(0..=body.len()));
            bytes
        }
        (_, 6) => {
            let mut bytes = body.to_vec();
            if !bytes.is_empty() {
                let position = random.random_range(0..bytes.len());
                bytes[position] = random.random();
            }
            bytes
        }
        _ => odd_document(random),
    }
}

fn odd_document(random: &mut ChaCha8Rng) -> Vec<u8> {
    let documents: [Vec<u8>; 9] = [
        b"\xef\xbb\xbf{}".to_vec(),
        b"{}".to_vec(),
        b"[]".to_vec(),
        b"\"\\ud800\"".to_vec(),
        br#"{"\u0000": "\u0000"}"#.to_vec(),
        br#"{"grid_limit_uuids": 1e400}"#.to_vec(),
        br#"{"$serde_json::private::RawValue": "{}"}"#.to_vec(),
        b"[".repeat(5_000),
        b" ".repeat(70_000),
    ];
    documents.choose(random).unwrap().clone()
}

/// Changes one place of a tree: a property or item, or what is in it.
fn mutate(random: &mut ChaCha8Rng, tree: &mut Value) {
    let deeper = random.random_bool(0.3);
    if let Some(object) = tree.as_object_mut().filter(|it| !it.is_empty()) {
        let names: Vec<String> = object.keys().cloned().collect();
        let name = names.choose(random).unwrap().clone();
        match random.random_range(0..4) {
            0 => {
                object.shift_remove(&name);
            }
            1 => {
                let unknown = text(random);
                object.insert(unknown, value(random));
            }
            _ if deeper => mutate(random, &mut object[&name]),
            _ => object[&name] = value(random),
        }
    } else if let Some(items) = tree.as_array_mut().filter(|it| !it.is_empty()) {
        match random.random_range(0..4) {
            0 => items.clear(),
            1 => items.push(items[0].clone()),
            2 => {
                let many = items[0].clone();
                items.resize(random.random_range(99..103), many);
            }
            _ => items[0] = value(random),
        }
    } else {
        *tree = value(random);
    }
}

/// Any value.
fn value(random: &mut ChaCha8Rng) -> Value {
    let numbers = [
        0.0,
        -0.0,
        -1.0,
        0.5,
        900.0,
        1e9,
        2_147_483_647.0,
        2_147_483_648.0,
        1e300,
        -1e18,
    ];
    match random.random_range(0..8) {
        0 => Value::Null,
        1 => random.random_bool(0.5).into(),
        2 => (*numbers.choose(random).unwrap()).into(),
        3 => random.random::<i64>().into(),
        4 => (NOW + random.random_range(-2_000..2_000)).into(),
        5 => json!([value(random)]),
        6 => json!({text(random): value(random)}),
        _ => text(random).into(),
    }
}

/// Any text.
pub(super) fn text(random: &mut ChaCha8Rng) -> String {
    let texts = [
        "",
        "x",
        "\u{0}",
        "a/b~c",
        "\u{1F50B}",
        "'; --",
        "6f1f0a0e-2c7c-4c67-9e0b-3a5d2a0f9b11",
    ];
    (*texts.choose(random).unwrap()).to_owned()
}
