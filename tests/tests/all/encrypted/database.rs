//! PostgreSQL with TLS.

use super::{PASSWORD, attempts_take_their_time, tells, world_with};
use embedded::{Edition, Postgres, PostgresOptions, ServerCertificate};
use sqlx::{Connection as _, PgConnection};
use std::path::Path;
use tempfile::TempDir;
use testkit::{Authority, CertifiedPair, Proxy, World, eventually};

struct Database {
    server: Postgres,
    port: u16,
    folder: TempDir,
}

impl Database {
    async fn start(certificate: ServerCertificate) -> Self {
        let folder = embedded::temporary_folder().unwrap();
        let port = embedded::free_port().unwrap();
        let mut options = PostgresOptions::new(folder.path().join("db"), Edition::Plain);
        options.durable = false;
        options.tcp_port = Some(port);
        options.tls = Some(certificate);
        let server = tokio::task::spawn_blocking(move || Postgres::start(&options).unwrap())
            .await
            .unwrap();
        let mut session = PgConnection::connect(&server.url("postgres"))
            .await
            .unwrap();
        let role = format!("create role ada login password '{PASSWORD}'");
        for statement in [role.as_str(), "create database site owner ada"] {
            sqlx::query(statement).execute(&mut session).await.unwrap();
        }
        Self {
            server,
            port,
            folder,
        }
    }

    fn url(&self, host: &str, password: &str, parameters: &str) -> String {
        let port = self.port;
        format!("postgres://ada:{password}@{host}:{port}/site?{parameters}")
    }

    fn folder(&self) -> &Path {
        self.folder.path()
    }
}

async fn world(url: &str) -> World {
    world_with(&[("WATTLINE_DATABASE_URL", url)]).await
}

/// An api with this address is not ready, and says this; so does `check`.
async fn refused(url: &str, cause: &str) {
    let world = world(url).await;
    let api = world.start(&["api"]);
    tells(&api, "database", cause).await;
    let told = String::from_utf8(world.attempt(&["check"]).stdout).unwrap();
    let found = told.lines().find(|it| it.contains("database: "));
    let told = found.unwrap();
    assert!(
        told.starts_with("MISSING") && told.contains(cause),
        "{told}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn the_database_is_spoken_to_over_tls_and_its_name_is_checked() {
    let authority = Authority::new();
    let database = Database::start(authority.issue().server()).await;
    let trusted = authority.write(database.folder());
    let verified = format!("sslmode=verify-full&sslrootcert={trusted}");
    let world = world(&database.url("localhost", PASSWORD, &verified)).await;
    world.command(&["migrate"]);
    let api = world.start(&["api"]);
    api.ready().await;
    let mut session = PgConnection::connect(&database.server.url("site"))
        .await
        .unwrap();
    // Whoever came over TCP; a pool may have no connection at one moment.
    let query = "select bool_and(ssl) from pg_stat_ssl join pg_stat_activity using (pid) \
                 where datname = 'site' and client_addr is not null";
    eventually(async || {
        let encrypted = sqlx::query_scalar(query).fetch_one(&mut session).await;
        match encrypted.unwrap() {
            Some(true) => Ok(()),
            other => Err::<(), Option<bool>>(other),
        }
    })
    .await;

    // Another name, another authority, another password.
    let other = Authority::new().write(database.folder());
    let strange = format!("sslmode=verify-full&sslrootcert={other}");
    for (host, password, parameters, cause) in [
        (
            "127.0.0.1",
            PASSWORD,
            verified.as_str(),
            "not valid for name",
        ),
        ("localhost", PASSWORD, &strange, "UnknownIssuer"),
        (
            "localhost",
            PASSWORD,
            "sslmode=verify-full",
            "UnknownIssuer",
        ),
        (
            "localhost",
            "sesame",
            &verified,
            "password authentication failed",
        ),
        ("localhost", PASSWORD, "sslmode=disable", "no encryption"),
    ] {
        refused(&database.url(host, password, parameters), cause).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_expired_certificate_of_the_database_is_refused() {
    let authority = Authority::new();
    let database = Database::start(authority.issue_expired().server()).await;
    let trusted = authority.write(database.folder());
    let parameters = format!("sslmode=verify-full&sslrootcert={trusted}");
    refused(&database.url("localhost", PASSWORD, &parameters), "xpired").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_database_without_tls_is_refused_where_tls_is_asked_for() {
    let folder = embedded::temporary_folder().unwrap();
    let port = embedded::free_port().unwrap();
    let mut options = PostgresOptions::new(folder.path(), Edition::Plain);
    options.tcp_port = Some(port);
    let _server = tokio::task::spawn_blocking(move || Postgres::start(&options).unwrap())
        .await
        .unwrap();
    let url = format!("postgres://postgres@localhost:{port}/postgres?sslmode=require");
    refused(&url, "does not support TLS").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_database_may_ask_for_a_certificate_of_ours() {
    let (authority, ours) = (Authority::new(), Authority::new());
    let database = Database::start(authority.issue().server_for(&ours)).await;
    let trusted = authority.write(database.folder());
    let CertifiedPair {
        certificate_pem,
        key_pem,
        ..
    } = ours.issue_for("ada");
    let place = |name: &str, text: &str| {
        let path = database.folder().join(name);
        std::fs::write(&path, text).unwrap();
        path.display().to_string()
    };
    let (certificate, key) = (
        place("ada.crt", &certificate_pem),
        place("ada.key", &key_pem),
    );
    let verified = format!("sslmode=verify-full&sslrootcert={trusted}");
    let shown = format!("{verified}&sslcert={certificate}&sslkey={key}");
    let world = world(&database.url("localhost", PASSWORD, &shown)).await;
    world.command(&["migrate"]);
    refused(
        &database.url("localhost", PASSWORD, &verified),
        "client certificate",
    )
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_database_that_is_somebody_else_is_not_asked_in_a_storm() {
    let authority = Authority::new();
    let database = Database::start(authority.issue().server()).await;
    let proxy = Proxy::recording(database.port).await;
    let other = Authority::new().write(database.folder());
    let port = proxy.port();
    let url =
        format!("postgres://ada:x@localhost:{port}/site?sslmode=verify-full&sslrootcert={other}");
    let world = world(&url).await;
    let api = world.start(&["api"]);
    tells(&api, "database", "UnknownIssuer").await;
    // Two tasks ask, one every second or two and one ever less often.
    attempts_take_their_time(&proxy).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_slip_in_a_parameter_of_the_address_is_refused_at_the_start() {
    let world = world("postgres://ada:sesame@localhost/site?sslmod=verify-full").await;
    let output = world.attempt(&["api"]);
    let told = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{told}");
    assert!(
        told.contains("database_url") && told.contains("sslmode"),
        "{told}"
    );
    assert!(!told.contains("sesame"), "{told}");
}
