//! HTTPS by the process itself.

use crate::WATTLINE;
use std::time::Duration;
use testkit::{
    Authority, Mode, PASSWORD, PairFiles, Running, Socket, USERNAME, World, eventually, tls_version,
};
use tokio::time::timeout;

const PATIENCE: Duration = Duration::from_secs(60);

struct Https {
    world: World,
    authority: Authority,
    files: PairFiles,
    /// What the process has at its start, in DER.
    certificate: Vec<u8>,
    api: Running,
}

impl Https {
    async fn start() -> Self {
        let mut world = World::new(WATTLINE, Mode::Direct).await;
        world.building();
        let authority = Authority::new();
        let files = PairFiles::within(world.folder());
        let pair = authority.issue();
        files.write(&pair);
        set(
            &mut world,
            "WATTLINE_TLS_CERT_FILE",
            Some(&files.certificate),
        );
        set(&mut world, "WATTLINE_TLS_KEY_FILE", Some(&files.key));
        let api = world.start(&["api"]);
        api.ready().await;
        Self {
            world,
            authority,
            files,
            certificate: pair.certificate_der,
            api,
        }
    }

    async fn connect(&self) -> Socket {
        let port = self.world.http_port;
        Socket::secure(port, &self.authority).await.unwrap()
    }

    /// Waits until new connections are given this certificate.
    async fn shows(&self, certificate: &[u8]) {
        eventually(async || {
            let shown = self.connect().await.certificate() == Some(certificate);
            if shown {
                Ok(())
            } else {
                Err("another certificate")
            }
        })
        .await;
    }
}

fn set(world: &mut World, name: &str, path: Option<&std::path::Path>) {
    match path {
        Some(path) => world
            .settings
            .insert(name.to_owned(), path.display().to_string()),
        None => world.settings.remove(name),
    };
}

async fn answered(socket: &mut Socket) {
    let answer = socket.get("/buildings/", "").await.unwrap();
    assert_eq!(answer.status, 401, "{answer:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_process_speaks_https_itself_and_tells_browsers_to_stay_with_it() {
    let https = Https::start().await;
    let body = format!(r#"{{"username":"{USERNAME}","password":"{PASSWORD}"}}"#);
    for version in [&tls_version::TLS12, &tls_version::TLS13] {
        let port = https.world.http_port;
        let mut socket = Socket::secure_with(port, &https.authority, &[version])
            .await
            .unwrap();
        assert_eq!(socket.certificate(), Some(&https.certificate[..]));
        let answer = socket.post("/token/", "", &body).await.unwrap();
        assert_eq!(answer.status, 200, "{answer:?}");
        let hsts = answer.header("strict-transport-security");
        assert!(hsts.starts_with("max-age="), "{hsts}");
        let access = answer.body["access"].as_str().unwrap();
        let bearer = format!("authorization: Bearer {access}\r\n");
        let answer = socket.get("/buildings/", &bearer).await.unwrap();
        assert_eq!(answer.status, 200, "on the same connection");
        assert!(!answer.header("strict-transport-security").is_empty());
    }
    let log = https.api.log();
    assert!(!log.contains("PRIVATE"), "{log}");
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_certificate_nobody_is_told_to_use_https() {
    let world = World::new(WATTLINE, Mode::Direct).await;
    let api = world.start(&["api"]);
    api.ready().await;
    let mut socket = Socket::connect(world.http_port).await.unwrap();
    let answer = socket.get("/buildings/", "").await.unwrap();
    assert_eq!(answer.header("strict-transport-security"), "");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_new_certificate_is_taken_over_and_no_connection_is_dropped() {
    let https = Https::start().await;
    let mut kept = https.connect().await;
    answered(&mut kept).await;
    for _ in 0..2 {
        let pair = https.authority.issue();
        https.files.write(&pair);
        https.shows(&pair.certificate_der).await;
        answered(&mut kept).await;
    }
    assert_eq!(kept.certificate(), Some(&https.certificate[..]));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_pair_that_does_not_belong_together_keeps_the_old_one_until_it_does() {
    let https = Https::start().await;
    let told = |what: &str| https.api.log().matches(what).count();
    let refused = "new certificate not taken over";
    let pair = https.authority.issue();
    https.files.write_certificate(&pair);
    eventually(async || match told(refused) {
        1 => Ok(()),
        other => Err(other),
    })
    .await;
    https.shows(&https.certificate).await;
    https.files.write_key(&pair);
    https.shows(&pair.certificate_der).await;
    assert_eq!(told(refused), 1, "every cause is told once");

    std::fs::remove_file(&https.files.key).unwrap();
    eventually(async || match told(refused) {
        2 => Ok(()),
        other => Err(other),
    })
    .await;
    https.shows(&pair.certificate_der).await;
    let next = https.authority.issue();
    https.files.write(&next);
    https.shows(&next.certificate_der).await;
    let log = https.api.log();
    assert!(!log.contains("PRIVATE"), "{log}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_certificate_behind_a_link_that_is_turned_is_taken_over() {
    let mut world = World::new(WATTLINE, Mode::Direct).await;
    let authority = Authority::new();
    let [first, second] = ["first", "second"].map(|name| {
        let folder = world.folder().join(name);
        std::fs::create_dir(&folder).unwrap();
        let pair = authority.issue();
        PairFiles::within(&folder).write(&pair);
        pair
    });
    let live = world.folder().join("live");
    std::os::unix::fs::symlink("first", &live).unwrap();
    let files = PairFiles::within(&live);
    set(
        &mut world,
        "WATTLINE_TLS_CERT_FILE",
        Some(&files.certificate),
    );
    set(&mut world, "WATTLINE_TLS_KEY_FILE", Some(&files.key));
    let api = world.start(&["api"]);
    api.ready().await;
    let shown = async || {
        let socket = Socket::secure(world.http_port, &authority).await.unwrap();
        socket.certificate().unwrap().to_vec()
    };
    assert_eq!(shown().await, first.certificate_der);
    let next = world.folder().join("next");
    std::os::unix::fs::symlink("second", &next).unwrap();
    std::fs::rename(&next, &live).unwrap();
    eventually(async || {
        let taken_over = shown().await == second.certificate_der;
        if taken_over {
            Ok(())
        } else {
            Err("the old one")
        }
    })
    .await;
    assert_eq!(api.log().matches("not taken over").count(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn who_shakes_no_hands_costs_nothing_but_the_connection() {
    let https = Https::start().await;
    let port = https.world.http_port;
    // Plain HTTP gets no answer, and none of its bytes is taken for a request.
    let mut plain = Socket::connect(port).await.unwrap();
    assert!(plain.get("/buildings/", "").await.is_err());
    plain.ended().await;
    // So does who trusts another authority.
    let stranger = Socket::secure(port, &Authority::new()).await;
    assert!(stranger.is_err());
    // Who says nothing is waited for, and nobody behind it is.
    let mut silent = Vec::new();
    for _ in 0..20 {
        silent.push(Socket::connect(port).await.unwrap());
    }
    let mut socket = https.connect().await;
    answered(&mut socket).await;
    for socket in &mut silent {
        timeout(PATIENCE, socket.ended()).await.unwrap();
    }
    answered(&mut socket).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_in_flight_over_tls_is_answered_after_the_process_was_told_to_stop() {
    let mut https = Https::start().await;
    let mut idle = https.connect().await;
    answered(&mut idle).await;
    let body = format!(r#"{{"username":"{USERNAME}","password":"{PASSWORD}"}}"#);
    let mut socket = https.connect().await;
    let length = body.len();
    let head = format!(
        "POST /public-api/token/ HTTP/1.1\r\nhost: a\r\ncontent-length: {length}\r\nexpect: 100-continue\r\n\r\n"
    );
    socket.send(&head).await.unwrap();
    assert_eq!(
        socket.answer().await.unwrap().status,
        100,
        "it is in flight"
    );
    https.api.signal("TERM");
    timeout(PATIENCE, idle.ended()).await.unwrap();
    socket.send(&body).await.unwrap();
    assert_eq!(socket.answer().await.unwrap().status, 200);
    socket.ended().await;
    assert!(https.api.wait(PATIENCE).success());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_pair_that_cannot_be_used_ends_the_start_with_one_line() {
    let mut world = World::new(WATTLINE, Mode::Direct).await;
    let authority = Authority::new();
    let (pair, other) = (authority.issue(), authority.issue());
    let files = PairFiles::within(world.folder());
    let check = |world: &World, names: &[&str]| {
        let output = world.attempt(&["api"]);
        let told = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{told}");
        assert_eq!(told.lines().count(), 1, "{told}");
        for name in names {
            assert!(told.contains(name), "{name} in {told}");
        }
        let output = world.attempt(&["check"]);
        let told = String::from_utf8(output.stdout).unwrap();
        assert!(told.contains("MISSING   https: "), "{told}");
    };
    files.write(&pair);
    set(
        &mut world,
        "WATTLINE_TLS_CERT_FILE",
        Some(&files.certificate),
    );
    check(&world, &["tls_key_file", "tls_cert_file is given"]);
    set(&mut world, "WATTLINE_TLS_CERT_FILE", None);
    set(&mut world, "WATTLINE_TLS_KEY_FILE", Some(&files.key));
    check(&world, &["tls_cert_file", "tls_key_file is given"]);
    set(
        &mut world,
        "WATTLINE_TLS_CERT_FILE",
        Some(&files.certificate),
    );

    let told = String::from_utf8(world.attempt(&["check"]).stdout).unwrap();
    assert!(
        told.contains("ok        https: certificate and key belong together, valid until "),
        "{told}"
    );
    files.write_key(&other);
    check(
        &world,
        &[
            "tls_key_file",
            "WATTLINE_TLS_KEY_FILE",
            "another certificate",
        ],
    );
    std::fs::write(&files.certificate, "nonsense").unwrap();
    check(
        &world,
        &[
            "tls_cert_file",
            "WATTLINE_TLS_CERT_FILE",
            "no certificate in PEM",
        ],
    );
    std::fs::remove_file(&files.certificate).unwrap();
    check(&world, &["tls_cert_file", "No such file"]);
}
