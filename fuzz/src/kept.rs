//! Every kept input passes: those in git, and those that a run on this machine has found.

use std::path::Path;

/// Runs a check on every file of a target's folders; tells how many there were.
fn run(target: &str, check: fn(&[u8])) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut kept = 0;
    for folder in ["seeds", "corpus"] {
        let Ok(entries) = std::fs::read_dir(root.join(folder).join(target)) else {
            continue;
        };
        for entry in entries {
            let path = entry.unwrap().path();
            let input = std::fs::read(&path).unwrap();
            // So that a failure tells where it is from.
            println!("{}", path.display());
            check(&input);
            kept += 1;
        }
    }
    assert!(kept >= 5, "{target} has {kept} seeds");
}

#[test]
fn actions() {
    run("action", crate::action::check);
}

#[test]
fn decoder() {
    run("decoder", crate::decoder::check);
}

#[test]
fn envelopes() {
    run("envelope", crate::envelope::check);
}

#[test]
fn fleet_files() {
    run("fleet_file", crate::fleet_file::check);
}

#[test]
fn queries() {
    run("query", crate::query::check);
}

#[test]
fn tokens() {
    run("token", crate::token::check);
}

#[test]
fn validators() {
    run("validate", crate::validate::check);
}
