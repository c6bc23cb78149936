mod command_line;
mod secrets;

use super::*;
use std::fs;
use tempfile::TempDir;

const PASSWORD: &str = "Swordfish";

const TABLE: &[Setting] = &[
    Setting {
        key: "database_url",
        help: "The database",
        default: None,
        kind: Kind::Url(&["postgres"]),
        secret: true,
    },
    Setting {
        key: "mqtt_url",
        help: "The broker",
        default: Some("mqtt://127.0.0.1:1883"),
        kind: Kind::Url(&["mqtt", "mqtts"]),
        secret: false,
    },
    Setting {
        key: "partitions",
        help: "Partitions of a new topic",
        default: Some("12"),
        kind: Kind::Integer { min: 1, max: 1_000 },
        secret: false,
    },
    Setting {
        key: "pin",
        help: "A secret number",
        default: None,
        kind: Kind::Integer { min: 0, max: 9_999 },
        secret: true,
    },
    Setting {
        key: "retention",
        help: "How long records are kept",
        default: Some("7d"),
        kind: Kind::Duration { min_s: 176_400 },
        secret: false,
    },
    Setting {
        key: "listen",
        help: "Where it listens",
        default: Some("127.0.0.1:8080"),
        kind: Kind::SocketAddress,
        secret: false,
    },
    Setting {
        key: "format",
        help: "Format of the log",
        default: Some("text"),
        kind: Kind::Choice(&["text", "json"]),
        secret: false,
    },
    Setting {
        key: "brokers",
        help: "The brokers",
        default: Some(""),
        kind: Kind::List,
        secret: false,
    },
    Setting {
        key: "options",
        help: "Options of the client",
        default: Some(""),
        kind: Kind::Pairs,
        secret: false,
    },
    Setting {
        key: "key_file",
        help: "The signing keys",
        default: None,
        kind: Kind::Path,
        secret: false,
    },
];

/// What a test gives: flags by key, variables, the content of the file.
#[derive(Default)]
struct Given<'a> {
    flags: &'a [(&'a str, &'a str)],
    environment: &'a [(&'a str, &'a str)],
    file: Option<&'a str>,
}

fn owned(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
    let owned = |(key, value): &(&str, &str)| ((*key).to_owned(), (*value).to_owned());
    pairs.iter().map(owned).collect()
}

fn load(given: &Given<'_>) -> Result<Settings, SettingsError> {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("wattline.toml");
    let config = given.file.map(|text| {
        fs::write(&path, text).unwrap();
        path.as_path()
    });
    let environment = owned(given.environment);
    Settings::load(TABLE, &owned(given.flags), config, &|name| {
        environment.get(name).cloned()
    })
}

/// The error of what is given: it is one line, holds the parts in their order, and no password.
fn check_refused(given: &Given<'_>, parts: &[&str]) {
    let line = load(given).unwrap_err().to_string();
    assert!(!line.contains('\n'), "{line}");
    assert!(!line.contains(PASSWORD), "{line}");
    let mut rest = line.as_str();
    for part in parts {
        let (_, after) = rest
            .split_once(part)
            .unwrap_or_else(|| panic!("{part} in {line}"));
        rest = after;
    }
}

#[test]
fn a_flag_comes_before_the_environment_before_the_file_before_the_default() {
    let mut given = Given::default();
    let partitions = |given: &Given<'_>| load(given).unwrap().integer::<u16>("partitions").unwrap();
    assert_eq!(partitions(&given), 12);
    given.file = Some("partitions = 3");
    assert_eq!(partitions(&given), 3);
    given.environment = &[("WATTLINE_PARTITIONS", "2")];
    assert_eq!(partitions(&given), 2);
    given.flags = &[("partitions", "1")];
    assert_eq!(partitions(&given), 1);
}

#[test]
fn an_empty_variable_counts_as_not_given() {
    let settings = load(&Given {
        environment: &[("WATTLINE_PARTITIONS", ""), ("WATTLINE_KEY_FILE", "")],
        ..Given::default()
    })
    .unwrap();
    assert_eq!(settings.integer::<i32>("partitions").unwrap(), 12);
    assert_eq!(settings.optional_path("key_file"), None);
}

#[test]
fn every_kind_is_read_from_text_and_from_the_file() {
    let file = r#"
        database_url = "postgres://db/wattline"
        retention = "49h"
        listen = "[::1]:80"
        format = "json"
        brokers = ["a:9092", "b:9092"]
        options = ["sasl.password=a,b", "acks=all"]
        key_file = "keys.json"
        pin = 7
    "#;
    let settings = load(&Given {
        file: Some(file),
        ..Given::default()
    })
    .unwrap();
    assert_eq!(
        settings.text("database_url").unwrap(),
        "postgres://db/wattline"
    );
    assert_eq!(
        settings.duration("retention").unwrap(),
        Duration::from_secs(176_400)
    );
    assert_eq!(settings.socket_address("listen").unwrap().port(), 80);
    assert_eq!(settings.choice("format").unwrap(), "json");
    assert_eq!(settings.list("brokers").unwrap(), ["a:9092", "b:9092"]);
    let options = settings.pairs("options").unwrap();
    assert_eq!(options[0], ("sasl.password".to_owned(), "a,b".to_owned()));
    assert_eq!(settings.path("key_file").unwrap(), Path::new("keys.json"));
    assert_eq!(settings.integer::<i64>("pin").unwrap(), 7);
}

#[test]
fn a_list_of_a_variable_has_commas_and_a_default_of_nothing_is_an_empty_one() {
    let settings = load(&Given {
        environment: &[("WATTLINE_BROKERS", "a:9092, b:9092,")],
        ..Given::default()
    })
    .unwrap();
    assert_eq!(settings.list("brokers").unwrap(), ["a:9092", "b:9092"]);
    assert!(settings.pairs("options").unwrap().is_empty());
    assert_eq!(settings.optional_text("database_url"), None);
}

#[test]
fn an_error_names_the_setting_the_flag_and_what_is_expected() {
    let check = |flag, parts: &[&str]| {
        let flags = &[flag];
        let given = Given {
            flags,
            ..Given::default()
        };
        check_refused(&given, parts);
    };
    check(
        ("partitions", "0"),
        &[
            "partitions",
            "flag --partitions",
            "a whole number from 1 to 1000, found \"0\"",
        ],
    );
    check(
        ("mqtt_url", "http://x"),
        &["mqtt_url", "flag --mqtt-url", "mqtt:// or mqtts://"],
    );
}

#[test]
fn an_error_names_the_setting_the_variable_and_what_is_expected() {
    let given = Given {
        environment: &[("WATTLINE_RETENTION", "48h\n")],
        ..Given::default()
    };
    check_refused(
        &given,
        &[
            "retention",
            "environment WATTLINE_RETENTION",
            "at least 49h",
            "found \"48h\\n\"",
        ],
    );
}

#[test]
fn an_error_names_the_setting_the_file_and_what_is_expected() {
    for (file, key, expected) in [
        ("listen = \"here\"", "listen", "an IP address with a port"),
        ("format = true", "format", "a text, a whole number"),
        ("format = [\"text\"]", "format", "one of text, json"),
    ] {
        let given = Given {
            file: Some(file),
            ..Given::default()
        };
        check_refused(&given, &[key, "wattline.toml", expected]);
    }
}

#[test]
fn a_missing_value_is_an_error_that_names_every_way_to_give_it() {
    let settings = load(&Given::default()).unwrap();
    let line = settings.text("database_url").unwrap_err().to_string();
    assert_eq!(
        line,
        "setting database_url is not given: expected a URL that starts with postgres://, by flag --database-url, \
         environment WATTLINE_DATABASE_URL or database_url in the file of --config"
    );
}

#[test]
fn an_unknown_key_of_the_file_is_an_error_that_names_it() {
    for (file, key) in [
        ("brokres = [\"a\"]", "brokres"),
        ("[kafka]\nbrokers = \"a\"", "kafka"),
        ("mqtt_url_file = \"a\"", "mqtt_url_file"),
        ("\"a\\nb\" = 1", "a b"),
    ] {
        let given = Given {
            file: Some(file),
            ..Given::default()
        };
        check_refused(&given, &["unknown setting", key, "wattline.toml"]);
    }
}

#[test]
fn a_file_that_is_not_toml_or_not_there_is_an_error() {
    let given = Given {
        file: Some("partitions = 3\ndatabase_url = postgres://ada:Swordfish@db\n"),
        ..Given::default()
    };
    check_refused(&given, &["wattline.toml", "TOML, but line 2 is not"]);
    let away = Some(Path::new("/nowhere/wattline.toml"));
    let error = Settings::load(TABLE, &BTreeMap::new(), away, &|_| None).unwrap_err();
    let line = error.to_string();
    assert!(
        line.contains("/nowhere/wattline.toml") && line.contains("readable file"),
        "{line}"
    );
}

#[test]
fn a_number_that_does_not_fit_its_reader_is_an_error() {
    let settings = load(&Given {
        flags: &[("partitions", "999")],
        ..Given::default()
    })
    .unwrap();
    let line = settings
        .integer::<u8>("partitions")
        .unwrap_err()
        .to_string();
    assert!(
        line.contains("flag --partitions") && line.contains("u8"),
        "{line}"
    );
}
