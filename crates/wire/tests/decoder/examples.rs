//! Walks `schemas/examples`: every example has the verdict that the manifest states.

use domain::rejection::Reason;
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use wire::decode::{decode_record, verdict};
use wire::topic::RecordKind;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../schemas/examples")
}

fn manifest() -> Vec<Value> {
    let text = std::fs::read(folder().join("manifest.json")).unwrap();
    serde_json::from_slice(&text).unwrap()
}

#[test]
fn every_example_has_the_verdict_that_the_manifest_states() {
    for entry in manifest() {
        let file = entry["file"].as_str().unwrap();
        let kind = RecordKind::parse(entry["kind"].as_str().unwrap()).unwrap();
        let payload = std::fs::read(folder().join(file)).unwrap();
        let expected = entry.get("reason").map(|reason| {
            let reason = Reason::parse(reason.as_str().unwrap()).unwrap();
            (reason, entry["pointer"].as_str().unwrap().to_owned())
        });
        assert_eq!(file.starts_with("valid/"), expected.is_none(), "{file}");
        let found = verdict(kind, &payload).err();
        assert_eq!(decode_record(kind, &payload).err(), found, "{file}");
        let found = found.map(|rejection| (rejection.reason, rejection.pointer));
        assert_eq!(found, expected, "{file}");
    }
}

#[test]
fn the_manifest_lists_every_example_and_no_other() {
    let listed: BTreeSet<String> = manifest()
        .iter()
        .map(|entry| entry["file"].as_str().unwrap().to_owned())
        .collect();
    let mut present = BTreeSet::new();
    for side in ["valid", "invalid"] {
        for entry in std::fs::read_dir(folder().join(side)).unwrap() {
            let name = entry.unwrap().file_name().into_string().unwrap();
            present.insert(format!("{side}/{name}"));
        }
    }
    assert_eq!(listed, present);
}
