//! The one table of settings: what an operator can set, whatever the role.

use ops::settings::{Kind, Setting};

/// Every setting, in the order in which the default file lists them.
pub static SETTINGS: &[Setting] = &[
    Setting {
        key: "database_url",
        help: "PostgreSQL 15 or newer, with or without TimescaleDB",
        default: None,
        kind: Kind::Url(&["postgres", "postgresql"]),
        secret: true,
    },
    Setting {
        key: "mqtt_url",
        help: "MQTT broker, with user and password where it asks for them",
        default: Some("mqtt://127.0.0.1:1883"),
        kind: Kind::Url(&["mqtt", "mqtts"]),
        secret: true,
    },
    Setting {
        key: "mqtt_client_id",
        help: "names the persistent session: fixed, and another one for each process; control adds -control",
        default: Some("wattline-bridge"),
        kind: Kind::Text,
        secret: false,
    },
    Setting {
        key: "mqtt_share_group",
        help: "with it, subscriptions are $share/<group>/… and several bridges share the messages; who knows it can take some",
        default: None,
        kind: Kind::Text,
        // Mosquitto lets every client join every group: only who does not know its name stays out.
        secret: true,
    },
    Setting {
        key: "mqtt_receive_maximum",
        help: "messages in flight, the bridge's only buffer",
        default: Some("1024"),
        kind: Kind::Integer {
            min: 1,
            max: 65_535,
        },
        secret: false,
    },
    Setting {
        key: "building_message_limit",
        help: "messages a second of one building in the long run, an hour's worth at once; 0: any number",
        default: Some("100"),
        kind: Kind::Integer {
            min: 0,
            max: 1_000_000,
        },
        secret: false,
    },
    Setting {
        key: "log_mode",
        help: "kafka, or direct: one process, no Kafka, acknowledged after the database has committed",
        default: Some("kafka"),
        kind: Kind::Choice(&["kafka", "direct"]),
        secret: false,
    },
    Setting {
        key: "kafka_brokers",
        help: "host:port, comma list",
        default: Some("127.0.0.1:9092"),
        kind: Kind::Text,
        secret: false,
    },
    Setting {
        key: "kafka_topic_prefix",
        help: "topics are <prefix>.telemetry and so on",
        default: Some("wattline"),
        kind: Kind::Text,
        secret: false,
    },
    Setting {
        key: "kafka_partitions",
        help: "partitions of a topic that has to be made",
        default: Some("12"),
        kind: Kind::Integer {
            min: 1,
            max: 10_000,
        },
        secret: false,
    },
    Setting {
        key: "kafka_group",
        help: "consumer group of the aggregators",
        default: Some("wattline-aggregator"),
        kind: Kind::Text,
        secret: false,
    },
    Setting {
        key: "kafka_options",
        help: "librdkafka key=value, comma list: TLS, SASL and the like",
        default: Some(""),
        kind: Kind::Pairs,
        secret: true,
    },
    Setting {
        key: "http_listen",
        help: "where the public API listens",
        default: Some("127.0.0.1:8080"),
        kind: Kind::SocketAddress,
        secret: false,
    },
    Setting {
        key: "ops_listen",
        help: "where /metrics, /health/live and /health/ready listen",
        default: Some("127.0.0.1:9464"),
        kind: Kind::SocketAddress,
        secret: false,
    },
    Setting {
        key: "token_key_file",
        help: "signing keys of the tokens, newest first; `wattline admin token new-key` makes one",
        default: None,
        kind: Kind::Path,
        secret: false,
    },
    Setting {
        key: "tls_cert_file",
        help: "certificate chain in PEM: with it and tls_key_file the public API speaks HTTPS",
        default: None,
        kind: Kind::Path,
        secret: false,
    },
    Setting {
        key: "tls_key_file",
        help: "private key of the certificate in PEM",
        default: None,
        kind: Kind::Path,
        secret: false,
    },
    Setting {
        key: "trusted_proxies",
        help: "networks whose Forwarded and X-Forwarded-For are believed, comma list",
        default: None,
        kind: Kind::Networks,
        secret: false,
    },
    Setting {
        key: "raw_retention",
        help: "how long single records are kept; older ones are refused",
        default: Some("7d"),
        kind: Kind::Duration { min_s: 49 * 3600 },
        secret: false,
    },
    Setting {
        key: "log",
        help: "log filter, such as info or info,bridge=debug",
        default: Some("info"),
        kind: Kind::Text,
        secret: false,
    },
    Setting {
        key: "log_format",
        help: "form of the log lines",
        default: Some("text"),
        kind: Kind::Choice(&["text", "json"]),
        secret: false,
    },
];

/// What every command that logs takes.
pub const LOGGING: &[&str] = &["log", "log_format"];
/// What a process that runs takes besides.
pub const OPERATIONS: &[&str] = &["ops_listen"];
/// What speaks to the database.
pub const DATABASE: &[&str] = &["database_url"];
/// What speaks to the broker.
pub const MQTT: &[&str] = &["mqtt_url", "mqtt_client_id"];
/// What takes messages from the broker.
pub const SUBSCRIPTION: &[&str] = &[
    "mqtt_share_group",
    "mqtt_receive_maximum",
    "building_message_limit",
];
/// What speaks to the log.
pub const KAFKA: &[&str] = &[
    "kafka_brokers",
    "kafka_topic_prefix",
    "kafka_partitions",
    "kafka_options",
];
/// What only the aggregator needs.
pub const AGGREGATOR: &[&str] = &["kafka_group", "raw_retention"];
/// How long records are kept, for what judges records without the log.
pub const RAW_RETENTION: &[&str] = &["raw_retention"];
/// Where the api listens.
pub const HTTP: &[&str] = &["http_listen"];
/// What only the api needs besides.
pub const API: &[&str] = &[
    "token_key_file",
    "tls_cert_file",
    "tls_key_file",
    "trusted_proxies",
];
/// What decides whether there is a log.
pub const LOG_MODE: &[&str] = &["log_mode"];
