//! The shipped broker's listeners with TLS.

use super::{attempts_take_their_time, tells, world_with};
use crate::mqtt_wire::{Connect, Wire};
use crate::records;
use std::path::Path;
use testkit::{Authority, BuildingPlan, PairFiles, Proxy, ShippedBroker, World, eventually};

/// A broker and how the service comes to it from another machine.
struct Guarded {
    broker: ShippedBroker,
    ca_file: String,
    files: PairFiles,
}

impl Guarded {
    async fn start(users: Vec<String>) -> Self {
        let broker = tokio::task::spawn_blocking(move || {
            let users: Vec<&str> = users.iter().map(String::as_str).collect();
            ShippedBroker::start(&users)
        })
        .await
        .unwrap();
        let folder = broker.folder();
        let files = PairFiles::within(folder);
        files.write(&broker.services.issue_for("wattline"));
        Self {
            ca_file: broker.authority.write(folder),
            files,
            broker,
        }
    }

    fn certificate(&self) -> String {
        let PairFiles { certificate, key } = &self.files;
        format!(
            "cert_file={}&key_file={}",
            certificate.display(),
            key.display()
        )
    }

    fn url(&self, host: &str, password: &str, parameters: &str) -> String {
        let port = self.broker.guarded_port();
        format!("mqtts://wattline:{password}@{host}:{port}?{parameters}")
    }
}

async fn world(url: &str) -> World {
    world_with(&[("WATTLINE_MQTT_URL", url)]).await
}

async fn refused(url: &str, cause: &str) {
    let world = world(url).await;
    let service = world.start(&["serve"]);
    tells(&service, "mqtt", cause).await;
    let told = String::from_utf8(world.attempt(&["check"]).stdout).unwrap();
    let told = told.lines().find(|it| it.contains("mqtt: ")).unwrap();
    assert!(
        told.starts_with("MISSING") && told.contains(cause),
        "{told}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn the_service_and_controllers_meet_over_tls() {
    let plan = BuildingPlan::new();
    let building = plan.uuid.to_string();
    let guarded = Guarded::start(vec![building.clone()]).await;
    let parameters = format!("ca_file={}&{}", guarded.ca_file, guarded.certificate());
    let world = world(&guarded.url("localhost", "secret", &parameters)).await;
    world.apply(&[plan]);
    let _service = world.serve().await;
    let mut controller = Wire::controller(&guarded.broker, &Connect::v5(&building)).await;
    let payload = records::meter(records::now(), 5);
    let topic = format!("v1/buildings/{building}/telemetry");
    assert_eq!(controller.publish(&topic, payload.as_bytes()).await, Ok(0));
    eventually(
        async || match world.count("select count(*) from telemetry_record").await {
            1 => Ok(()),
            other => Err(other),
        },
    )
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_broker_that_is_somebody_else_and_a_service_that_is_are_refused() {
    let guarded = Guarded::start(Vec::new()).await;
    let trusted = format!("ca_file={}", guarded.ca_file);
    let shown = guarded.certificate();
    let both = format!("{trusted}&{shown}");
    let other = Authority::new().write(guarded.broker.folder());
    let strange = format!("ca_file={other}&{shown}");
    for (host, password, parameters, cause) in [
        ("127.0.0.1", "secret", both.as_str(), "not valid for name"),
        ("localhost", "secret", &strange, "UnknownIssuer"),
        ("localhost", "secret", &shown, "UnknownIssuer"),
        ("localhost", "secret", &trusted, "ertificate"),
        ("localhost", "sesame", &both, "NotAuthorized"),
    ] {
        refused(&guarded.url(host, password, parameters), cause).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_expired_certificate_of_the_broker_is_refused_and_not_asked_for_in_a_storm() {
    let broker = tokio::task::spawn_blocking(|| {
        let authority = Authority::new();
        let pair = authority.issue_expired();
        ShippedBroker::start_with(&[], authority, &pair)
    })
    .await
    .unwrap();
    let ca_file = broker.authority.write(broker.folder());
    let proxy = Proxy::recording(broker.controllers_port()).await;
    let port = proxy.port();
    let url = format!("mqtts://wattline:secret@localhost:{port}?ca_file={ca_file}");
    let world = world(&url).await;
    let service = world.start(&["serve"]);
    tells(&service, "mqtt", "xpired").await;
    // Bridge and control, each with a backoff.
    attempts_take_their_time(&proxy).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn files_that_cannot_be_used_end_the_start_and_are_named() {
    let world = world("mqtts://wattline:sesame@localhost?ca_file=/nowhere/ca.pem").await;
    let output = world.attempt(&["serve"]);
    let told = String::from_utf8(output.stderr).unwrap();
    assert!(!output.status.success(), "{told}");
    assert!(
        told.contains("/nowhere/ca.pem") && !told.contains("sesame"),
        "{told}"
    );
    assert!(!Path::new("/nowhere").exists());
}
