//! Messages: the schemas' examples with something done to them.

use crate::http_fuzz::mutated_body;
use crate::records;
use rand::RngExt as _;
use rand::seq::IndexedRandom as _;
use rand_chacha::ChaCha8Rng;
use serde_json::Value;
use std::path::{Path, PathBuf};
use uuid::Uuid;

const KINDS: [&str; 5] = ["telemetry", "readings", "keyvalues", "reported", "presence"];

pub(super) struct Messages {
    random: ChaCha8Rng,
    buildings: Vec<String>,
    /// Each with the kind that it is an example of.
    examples: Vec<(&'static str, Vec<u8>)>,
    now: i64,
}

impl Messages {
    pub(super) fn new(random: ChaCha8Rng, buildings: &[Uuid]) -> Self {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../schemas/examples");
        let mut examples = Vec::new();
        let mut folders: Vec<PathBuf> = ["valid", "invalid"].map(|it| folder.join(it)).into();
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                match path.is_dir() {
                    true => folders.push(path),
                    false => {
                        let name = path.display().to_string();
                        let kind = KINDS.into_iter().find(|kind| name.contains(kind));
                        let example = std::fs::read(path).unwrap();
                        examples.push((kind.unwrap_or(KINDS[0]), example));
                    }
                }
            }
        }
        // The order of a folder is nobody's promise.
        examples.sort();
        assert!(examples.len() > 10, "{}", examples.len());
        Self {
            random,
            buildings: buildings.iter().map(Uuid::to_string).collect(),
            examples,
            now: records::now(),
        }
    }

    /// A topic that the bridge hears, and any payload.
    pub(super) fn next(&mut self) -> (String, Vec<u8>) {
        let random = &mut self.random;
        let known = self.buildings.choose(random).unwrap();
        let building = match random.random_range(0..12) {
            0 => Uuid::from_u128(random.random()).to_string(),
            1 => known.to_uppercase(),
            2 => "\u{1F50B}".to_owned(),
            3 => "x".repeat(random.random_range(0..2_000)),
            _ => known.clone(),
        };
        let (of, mut payload) = self.examples.choose(random).unwrap().clone();
        let other = random.random_bool(0.1);
        let kind = if other {
            KINDS.choose(random).unwrap()
        } else {
            of
        };
        if let Ok(Value::Object(mut tree)) = serde_json::from_slice(&payload)
            && tree.contains_key("time")
            && random.random_bool(0.8)
        {
            let time = self.now - random.random_range(-400..200_000);
            tree.insert("time".to_owned(), time.into());
            payload = Value::Object(tree).to_string().into_bytes();
        }
        for _ in 0..random.random_range(0..3) {
            payload = mutated_body(random, &payload);
        }
        if random.random_bool(0.1) {
            payload = bent(random, payload);
        }
        (format!("v1/buildings/{building}/{kind}"), payload)
    }
}

/// Bytes with a stretch of them repeated, cut out or replaced.
pub(super) fn bent(random: &mut ChaCha8Rng, mut bytes: Vec<u8>) -> Vec<u8> {
    if bytes.is_empty() {
        return vec![random.random(); random.random_range(0..9)];
    }
    let start = random.random_range(0..bytes.len());
    let end = random.random_range(start..bytes.len()).min(start + 64) + 1;
    let end = end.min(bytes.len());
    let stretch = bytes[start..end].to_vec();
    match random.random_range(0..4) {
        0 => drop(bytes.drain(start..end)),
        1 => {
            let times = random.random_range(1..200);
            drop(bytes.splice(start..start, stretch.repeat(times)));
        }
        2 => bytes[start] ^= 1 << random.random_range(0..8),
        _ => {
            let noise: Vec<u8> = stretch.iter().map(|_| random.random()).collect();
            drop(bytes.splice(start..end, noise));
        }
    }
    bytes
}
