//! What must not be shown, and secrets in files.

use super::*;

#[test]
fn a_secret_appears_in_no_error() {
    for environment in [
        [("WATTLINE_DATABASE_URL", "mysql://ada:Swordfish@db/wattline")],
        [("WATTLINE_DATABASE_URL", "Swordfish")],
        [("WATTLINE_DATABASE_URL_FILE", "Swordfish")],
        [("WATTLINE_PIN", "Swordfish")],
        [("WATTLINE_MQTT_URL", "mqtt//ada:Swordfish@broker")],
        [("WATTLINE_MQTT_URL", "tcp://ada:Swordfish@broker")],
        [("WATTLINE_LISTEN", "postgres://ada:Swordfish@db")],
        [("WATTLINE_OPTIONS", "Swordfish")],
    ] {
        let given = Given {
            environment: &environment,
            ..Given::default()
        };
        check_refused(&given, &["environment", "expected"]);
    }
}

#[test]
fn a_secret_appears_in_no_description() {
    let settings = load(&Given {
        flags: &[("database_url", "postgres://ada:Swordfish@db/wattline")],
        environment: &[
            ("WATTLINE_MQTT_URL", "mqtts://ada:Swordfish@broker:8883"),
            (
                "WATTLINE_OPTIONS",
                "sasl.username=ada,sasl.password=Swordfish",
            ),
            ("WATTLINE_BROKERS", "kafka://ada:Swordfish@a:9092"),
        ],
        file: Some("pin = 1234"),
    })
    .unwrap();
    let lines = settings.describe();
    let text = format!("{lines:#?}{settings:?}");
    assert!(!text.contains(PASSWORD) && !text.contains("1234"), "{text}");
    for line in [
        "database_url (set), flag --database-url",
        "mqtt_url = mqtts://***@broker:8883, environment WATTLINE_MQTT_URL",
        "partitions = 12, default",
        "key_file (not set)",
    ] {
        assert!(
            lines.iter().any(|found| found == line),
            "{line} in {lines:#?}"
        );
    }
    let refused = settings
        .unacceptable("mqtt_url", "a broker that exists")
        .to_string();
    assert_eq!(
        refused,
        "setting mqtt_url from environment WATTLINE_MQTT_URL: expected a broker that exists"
    );
}

#[test]
fn a_secret_may_be_a_file_whose_last_line_end_does_not_count() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("secret");
    let path = path.to_str().unwrap();
    let url = "postgres://ada:Swordfish@db/wattline";
    for end in ["", "\n", "\r\n"] {
        fs::write(path, format!("{url}{end}")).unwrap();
        let file = format!("database_url_file = '{path}'");
        for given in [
            Given {
                flags: &[("database_url_file", path)],
                ..Given::default()
            },
            Given {
                environment: &[("WATTLINE_DATABASE_URL_FILE", path)],
                ..Given::default()
            },
            Given {
                file: Some(&file),
                ..Given::default()
            },
        ] {
            assert_eq!(load(&given).unwrap().text("database_url").unwrap(), url);
        }
    }
}

#[test]
fn a_secret_given_twice_by_the_same_source_is_refused() {
    let given = Given {
        environment: &[
            ("WATTLINE_DATABASE_URL", "postgres://ada:Swordfish@db"),
            ("WATTLINE_DATABASE_URL_FILE", "/run/secret"),
        ],
        ..Given::default()
    };
    check_refused(
        &given,
        &[
            "database_url",
            "WATTLINE_DATABASE_URL_FILE",
            "given as well",
        ],
    );
}
