//! Kafka with TLS and logins.

use super::{PASSWORD, tells, world_with};
use crate::records;
use embedded::{Kafka, KafkaLogin, KafkaOptions};
use tempfile::TempDir;
use testkit::{Authority, CertifiedPair, World, eventually};
use uuid::Uuid;

struct Log {
    server: Kafka,
    folder: TempDir,
}

impl Log {
    async fn start(pair: CertifiedPair) -> Self {
        let folder = embedded::temporary_folder().unwrap();
        let mut options = KafkaOptions::new(folder.path().join("kafka"));
        options.login = Some(KafkaLogin {
            certificate: pair.server(),
            user: "ada".to_owned(),
            password: PASSWORD.to_owned(),
        });
        let server = tokio::task::spawn_blocking(move || Kafka::start(&options).unwrap())
            .await
            .unwrap();
        Self { server, folder }
    }

    async fn world(&self, host: &str, mechanism: &str, password: &str, ca_file: &str) -> World {
        let brokers = format!("{host}:{}", self.server.login_port().unwrap());
        let options = format!(
            "security.protocol=SASL_SSL,sasl.mechanism={mechanism},sasl.username=ada,\
             sasl.password={password},ssl.ca.location={ca_file}"
        );
        let name = format!("test-{}", Uuid::new_v4().simple());
        world_with(&[
            ("WATTLINE_LOG_MODE", "kafka"),
            ("WATTLINE_KAFKA_BROKERS", &brokers),
            ("WATTLINE_KAFKA_OPTIONS", &options),
            ("WATTLINE_KAFKA_TOPIC_PREFIX", &name),
            ("WATTLINE_KAFKA_GROUP", &name),
            ("WATTLINE_KAFKA_PARTITIONS", "1"),
        ])
        .await
    }
}

/// Bridge and aggregator are not ready and say why; so does `check`.
async fn refused(world: &World, cause: &str) {
    for role in ["bridge", "aggregator"] {
        let process = world.start(&[role]);
        tells(&process, "kafka", cause).await;
    }
    let told = String::from_utf8(world.attempt(&["check"]).stdout).unwrap();
    let told = told.lines().find(|it| it.contains("kafka: ")).unwrap();
    assert!(
        told.starts_with("MISSING") && told.contains(cause),
        "{told}"
    );
    assert!(!told.contains(PASSWORD), "{told}");
}

#[tokio::test(flavor = "multi_thread")]
async fn kafka_is_spoken_to_over_tls_with_a_password() {
    let authority = Authority::new();
    let log = Log::start(authority.issue()).await;
    let trusted = authority.write(log.folder.path());
    for mechanism in ["SCRAM-SHA-512", "PLAIN"] {
        let world = log.world("localhost", mechanism, PASSWORD, &trusted).await;
        let building = world.building();
        let _service = world.serve().await;
        let record = records::meter(records::now(), 5);
        let controller = world.controller();
        controller.telemetry(building, record).await;
        eventually(
            async || match world.count("select count(*) from telemetry_record").await {
                1 => Ok(()),
                other => Err(other),
            },
        )
        .await;
    }
    let other = Authority::new().write(log.folder.path());
    for (host, password, ca_file, cause) in [
        (
            "localhost",
            PASSWORD,
            other.as_str(),
            "certificate verify failed",
        ),
        ("127.0.0.1", PASSWORD, &trusted, "certificate verify failed"),
        ("localhost", "sesame", &trusted, "invalid credentials"),
    ] {
        let world = log.world(host, "SCRAM-SHA-512", password, ca_file).await;
        refused(&world, cause).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_expired_certificate_of_kafka_is_refused() {
    let authority = Authority::new();
    let log = Log::start(authority.issue_expired()).await;
    let trusted = authority.write(log.folder.path());
    let world = log.world("localhost", "PLAIN", PASSWORD, &trusted).await;
    refused(&world, "certificate").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_authority_that_cannot_be_read_ends_the_start_and_is_named() {
    let options = "security.protocol=SSL,ssl.ca.location=/nowhere/ca.pem,ssl.key.password=sesame";
    let world = world_with(&[
        ("WATTLINE_LOG_MODE", "kafka"),
        ("WATTLINE_KAFKA_OPTIONS", options),
    ])
    .await;
    let output = world.attempt(&["bridge"]);
    let told = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{told}");
    assert!(
        told.contains("kafka_options") && told.contains("ssl.ca.location"),
        "{told}"
    );
    assert!(!told.contains("sesame"), "{told}");
}
