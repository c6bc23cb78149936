//! The rules of the house that no lint can hold.

use domain::rejection::Reason;
use ops::metrics::{Counter, Gauge, Histogram};
use ops::settings::Settings;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use toml::Table;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .unwrap()
        .to_owned()
}

fn crates() -> Vec<String> {
    let folders = std::fs::read_dir(root().join("crates")).unwrap();
    let mut names: Vec<String> = folders
        .map(|it| it.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

fn manifest(folder: &str) -> Table {
    let path = root().join(folder).join("Cargo.toml");
    std::fs::read_to_string(path).unwrap().parse().unwrap()
}

fn dependencies(folder: &str, table: &str) -> BTreeSet<String> {
    let manifest = manifest(folder);
    manifest.get(table).map_or_else(BTreeSet::new, |it| {
        it.as_table().unwrap().keys().cloned().collect()
    })
}

/// Every file below `folder` with this ending.
fn files(folder: &Path, ending: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() && !path.ends_with("target") && !path.ends_with(".git") {
                folders.push(path);
            } else if path.extension().is_some_and(|it| it == ending) {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

fn rust_files() -> Vec<PathBuf> {
    ["crates", "tests", "benches", "faults", "fuzz"]
        .iter()
        .flat_map(|folder| files(&root().join(folder), "rs"))
        .collect()
}

#[test]
fn a_crate_uses_only_the_rooms_that_it_may_enter() {
    let all = [
        "aggregator",
        "api",
        "bridge",
        "control",
        "domain",
        "embedded",
        "kafka",
        "mqtt",
        "ops",
        "simulator",
        "steady",
        "store",
        "testkit",
        "wattline",
        "wire",
    ];
    let allowed: BTreeMap<&str, &[&str]> = BTreeMap::from([
        ("domain", &[][..]),
        ("wire", &["domain"]),
        ("ops", &[]),
        ("kafka", &["steady"]),
        ("mqtt", &[]),
        ("store", &["domain"]),
        ("bridge", &["domain", "wire", "ops", "kafka", "mqtt"]),
        ("aggregator", &["domain", "wire", "store", "ops", "kafka"]),
        ("api", &["domain", "wire", "store", "ops"]),
        ("control", &["domain", "wire", "store", "ops", "mqtt"]),
        ("simulator", &["domain", "wire", "mqtt"]),
        ("steady", &[]),
        ("embedded", &["ops"]),
        ("wattline", &all),
        ("testkit", &all),
    ]);
    assert_eq!(
        crates(),
        allowed.keys().copied().collect::<Vec<_>>(),
        "every room has its rule"
    );
    for (name, may) in allowed {
        for used in dependencies(&format!("crates/{name}"), "dependencies") {
            let ours = all.contains(&used.as_str());
            assert!(!ours || may.contains(&used.as_str()), "{name} uses {used}");
        }
        let shipped = name != "testkit";
        let used = dependencies(&format!("crates/{name}"), "dependencies");
        assert!(
            !(shipped && used.contains("testkit")),
            "{name} ships the testkit"
        );
    }
}

#[test]
fn an_outside_library_stays_in_its_room() {
    let rooms: &[(&str, &[&str])] = &[
        ("sqlx", &["store", "testkit"]),
        ("axum", &["api", "ops"]),
        ("rdkafka", &["aggregator", "bridge", "kafka", "testkit"]),
        (
            "rumqttc",
            &["bridge", "control", "mqtt", "simulator", "testkit"],
        ),
        ("clap", &["ops", "wattline"]),
        ("libc", &["steady"]),
        ("metrics", &["ops"]),
        ("jsonschema", &["wire"]),
        ("jsonwebtoken", &["api"]),
        ("argon2", &["api"]),
        ("schemars", &["api"]),
        ("tokio-rustls", &["api", "mqtt", "testkit"]),
        ("x509-parser", &["api"]),
        ("reqwest", &["testkit"]),
    ];
    for name in crates() {
        let used = dependencies(&format!("crates/{name}"), "dependencies");
        for (library, may) in rooms {
            assert!(
                !used.contains(*library) || may.contains(&name.as_str()),
                "{name} uses {library}"
            );
        }
    }
    let pure = ["tokio", "tracing", "sqlx", "rdkafka", "rumqttc", "axum"];
    for name in ["domain", "wire"] {
        let used = dependencies(&format!("crates/{name}"), "dependencies");
        assert!(pure.iter().all(|it| !used.contains(*it)), "{name} is pure");
    }
}

#[test]
fn versions_stand_in_the_workspace_manifest_only() {
    let mut folders: Vec<String> = crates().iter().map(|it| format!("crates/{it}")).collect();
    folders.extend(["benches", "benches/instructions", "faults", "tests"].map(str::to_owned));
    for folder in folders {
        let manifest = manifest(&folder);
        assert_eq!(
            manifest["lints"]["workspace"].as_bool(),
            Some(true),
            "{folder}"
        );
        assert!(manifest.get("features").is_none(), "{folder} has features");
        for table in ["dependencies", "dev-dependencies", "build-dependencies"] {
            let Some(table) = manifest.get(table) else {
                continue;
            };
            for (name, value) in table.as_table().unwrap() {
                let here = value.get("workspace").and_then(toml::Value::as_bool);
                assert_eq!(here, Some(true), "{folder}: {name}");
            }
        }
    }
}

#[test]
fn unsafe_stands_in_two_files_and_in_one_of_the_tests() {
    let lifted = |path: &PathBuf| {
        let text = std::fs::read_to_string(path).unwrap();
        // However it is broken into lines.
        let text: String = text.split_whitespace().collect();
        ["expect", "allow"]
            .iter()
            .any(|it| text.contains(&format!("{it}(unsafe_code")))
    };
    let found: Vec<PathBuf> = rust_files().into_iter().filter(lifted).collect();
    // The test's own asks the kernel for memory that must not be touched.
    let wanted = [
        "steady/src/gnu.rs",
        "wire/src/validate/vector.rs",
        "wire/tests/decoder/page.rs",
    ];
    assert_eq!(found, wanted.map(|it| root().join("crates").join(it)));
}

#[test]
fn files_stay_small_enough_to_be_read_at_one_sitting() {
    const LONGEST: usize = 400;
    const MEDIAN: usize = 150;
    let mut lengths = Vec::new();
    for path in rust_files() {
        let length = std::fs::read_to_string(&path).unwrap().lines().count();
        assert!(length <= LONGEST, "{} has {length} lines", path.display());
        lengths.push(length);
        assert!(!path.ends_with("mod.rs"), "{}", path.display());
    }
    lengths.sort_unstable();
    assert!(
        lengths[lengths.len() / 2] <= MEDIAN,
        "the median file has {} lines",
        lengths[lengths.len() / 2]
    );
}

#[test]
fn no_file_is_a_drawer() {
    for path in rust_files() {
        let name = path.file_stem().unwrap().to_str().unwrap();
        let drawers = [
            "util", "utils", "helper", "helpers", "common", "types", "manager", "misc",
        ];
        assert!(!drawers.contains(&name), "{}", path.display());
    }
}

#[test]
fn every_crate_has_a_readme_that_is_its_documentation() {
    for name in crates() {
        let folder = root().join("crates").join(&name);
        let readme = std::fs::read_to_string(folder.join("README.md"));
        assert!(
            readme.is_ok_and(|it| it.len() > 100),
            "{name} has no README"
        );
        let library = std::fs::read_to_string(folder.join("src/lib.rs")).unwrap();
        assert!(
            library.contains("../README.md"),
            "{name} does not show its README"
        );
    }
}

#[test]
fn statements_with_tables_stand_in_sql_files() {
    // Short ones may stand beside their use; what needs a line of its own needs a file.
    for path in files(&root().join("crates/store/src"), "sql") {
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(
            text.lines().all(|line| line.len() <= 110),
            "{}",
            path.display()
        );
        assert!(text.ends_with('\n'), "{}", path.display());
    }
}

#[test]
fn every_setting_is_in_the_default_file_with_its_default() {
    let text = std::fs::read_to_string(root().join("deploy/wattline.toml")).unwrap();
    let listed: Vec<&str> = text
        .lines()
        .filter_map(|line| line.strip_prefix("# ").unwrap_or(line).split_once(" = "))
        .map(|(key, _)| key)
        .filter(|key| key.chars().all(|it| it.is_ascii_lowercase() || it == '_'))
        .collect();
    let known: Vec<&str> = wattline::settings::SETTINGS
        .iter()
        .map(|it| it.key)
        .collect();
    assert_eq!(listed, known);
    for setting in wattline::settings::SETTINGS {
        let default = setting.default.unwrap_or_default();
        let line = text.lines().find(|line| {
            line.trim_start_matches("# ")
                .starts_with(&format!("{} = ", setting.key))
        });
        let line = line.unwrap();
        assert!(
            setting.default.is_none()
                || line.contains(&format!("= \"{default}\""))
                || line.ends_with(&format!("= {default}")),
            "{line}: the default is {default:?}"
        );
    }
    let path = root().join("deploy/wattline.toml");
    let none = BTreeMap::new();
    Settings::load(wattline::settings::SETTINGS, &none, Some(&path), &|_| None).unwrap();
}

#[test]
fn metrics_are_named_by_one_pattern() {
    let rows = Counter::ALL
        .map(Counter::row)
        .into_iter()
        .map(|it| (it, true));
    let rows = rows.chain(Gauge::ALL.map(Gauge::row).into_iter().map(|it| (it, false)));
    let rows = rows.chain(
        Histogram::ALL
            .map(Histogram::row)
            .into_iter()
            .map(|it| (it, false)),
    );
    for (row, counter) in rows {
        let shape = row
            .name
            .chars()
            .all(|it| it.is_ascii_lowercase() || it == '_');
        assert!(shape && row.name.starts_with("wattline_"), "{}", row.name);
        assert_eq!(row.name.ends_with("_total"), counter, "{}", row.name);
        assert!(row.help.ends_with('.'), "{}", row.help);
    }
    assert_eq!(Reason::ALL.len(), 12);
}

#[test]
fn documents_name_only_commands_and_files_that_exist() {
    let readme = std::fs::read_to_string(root().join("README.md")).unwrap();
    let makefile = std::fs::read_to_string(root().join("Makefile")).unwrap();
    for word in readme.split(|it: char| it.is_whitespace() || "`()[],".contains(it)) {
        let path = word.trim_end_matches(['.', ':', '*']);
        let local = [
            "crates/", "deploy/", "docs/", "schemas/", "tests/", "benches/", "faults/",
        ];
        if local.iter().any(|it| path.starts_with(it)) {
            assert!(root().join(path).exists(), "the README names {path}");
        }
    }
    for line in readme.lines() {
        for target in line
            .split("`make ")
            .skip(1)
            .filter_map(|it| it.split(['`', ' ']).next())
        {
            assert!(
                makefile.contains(&format!("\n{target}:")),
                "the README names make {target}"
            );
        }
    }
}

#[test]
fn every_test_that_the_promises_name_exists() {
    let promises = std::fs::read_to_string(root().join("docs/promises.md")).unwrap();
    let named = promises.split('`').skip(1).step_by(2);
    let mut seen = 0;
    for name in named.filter(|it| it.contains("::")) {
        let (module, test) = name.rsplit_once("::").unwrap();
        let path = module.replace("::", "/");
        let file = root().join("tests/tests/all").join(format!("{path}.rs"));
        let text = std::fs::read_to_string(&file);
        let text = text.unwrap_or_else(|_| panic!("{name}: no {}", file.display()));
        assert!(
            test.is_empty() || text.contains(&format!("fn {test}(")),
            "{name}"
        );
        seen += 1;
    }
    assert!(seen > 30, "{seen} tests are named");
}
