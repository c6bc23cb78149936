//! Requests of every operation with something done to them, down to their bytes.

use super::messages::bent;
use crate::contract::{Contract, Operation};
use crate::http_fuzz::mutated_body;
use rand::RngExt as _;
use rand::seq::IndexedRandom as _;
use rand_chacha::ChaCha8Rng;
use serde_json::Value;
use uuid::Uuid;

pub(super) struct Requests {
    operations: Vec<Operation>,
    tokens: Vec<String>,
    buildings: Vec<String>,
}

impl Requests {
    pub(super) fn new(pair: &Value, buildings: &[Uuid]) -> Self {
        let token = |kind: &str| pair[kind].as_str().unwrap().to_owned();
        let (access, refresh) = (token("access"), token("refresh"));
        let tampered = access.replace('.', "..");
        Self {
            operations: Contract::new().operations(),
            // The good one is the likeliest.
            tokens: vec![access.clone(), access.clone(), access, refresh, tampered],
            buildings: buildings.iter().map(Uuid::to_string).collect(),
        }
    }

    /// The bytes of a request, and whether it is sure to be a whole one.
    pub(super) fn next(&self, random: &mut ChaCha8Rng) -> (Vec<u8>, bool) {
        let operation = self.operations.choose(random).unwrap();
        let building = self.buildings.choose(random).unwrap();
        let path = operation.path_with(|name| match name {
            "building" => building.clone(),
            _ => Uuid::from_u128(random.random_range(0..50)).to_string(),
        });
        let mut path = path.into_bytes();
        for parameter in operation.parameters("query") {
            if random.random_bool(0.5) {
                let name = parameter["name"].as_str().unwrap();
                let value = parameter["example"].to_string().replace('"', "");
                path.extend(
                    format!("{}{name}={value}", if random.random() { '&' } else { '?' }).bytes(),
                );
            }
        }
        let mut body = match operation.request() {
            Some(told) => told["example"].to_string().into_bytes(),
            None => Vec::new(),
        };
        for _ in 0..random.random_range(0..3) {
            body = mutated_body(random, &body);
        }
        if random.random_bool(0.3) {
            path = visible(&bent(random, path));
        }
        let token = self.tokens.choose(random).unwrap();
        let mut bytes = format!("{} /public-api", operation.method).into_bytes();
        bytes.extend(path);
        bytes.extend(
            format!(
                " HTTP/1.1\r\nhost: a\r\nauthorization: Bearer {token}\r\ncontent-length: {}\r\n\r\n",
                body.len()
            )
            .bytes(),
        );
        bytes.extend(body);
        if random.random_bool(0.4) {
            for _ in 0..random.random_range(1..4) {
                bytes = bent(random, bytes);
            }
            return (bytes, false);
        }
        (bytes, true)
    }
}

/// Without what would end the line before its time.
fn visible(path: &[u8]) -> Vec<u8> {
    let blank = |it: &u8| *it <= b' ' || *it == 0x7f;
    path.iter().copied().filter(|it| !blank(it)).collect()
}
