//! What is no HTTP, or hardly: bombs, smuggling, bytes that are no text.

use super::http::Attacked;
use std::time::Duration;
use testkit::Socket;
use tokio::time::timeout;

const HEAD: &str = "POST /public-api/token/ HTTP/1.1\r\nhost: a\r\n";

/// What the service answered to bytes, until it closed or kept silent.
async fn answers(socket: &mut Socket, bytes: &[u8]) -> Vec<u16> {
    // It may have closed before it had all.
    let written = socket.send_bytes(bytes).await.is_ok();
    let mut statuses = Vec::new();
    let patience = Duration::from_secs(if written { 7 } else { 1 });
    while let Ok(Ok(answer)) = timeout(patience, socket.answer()).await {
        statuses.push(answer.status);
        if answer.header("connection") == "close" || answer.status >= 400 && statuses.len() > 3 {
            break;
        }
    }
    statuses
}

/// Each on a connection of its own; the first answer is one of these, 0 is none.
async fn check(attacked: &Attacked, cases: &[(&str, Vec<u8>, &[u16])]) {
    for (name, bytes, expected) in cases {
        let mut socket = attacked.connect().await;
        let statuses = answers(&mut socket, bytes).await;
        let first = statuses.first().copied().unwrap_or(0);
        assert!(expected.contains(&first), "{name}: {statuses:?}");
        assert!(
            statuses.len() <= 1,
            "{name}: {statuses:?}: the connection is over"
        );
        assert!(statuses.iter().all(|it| *it < 500), "{name}: {statuses:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn bombs_are_refused() {
    let attacked = Attacked::start().await;
    let get = |path: &str, headers: &str| {
        format!("GET {path} HTTP/1.1\r\nhost: a\r\n{headers}connection: close\r\n\r\n").into_bytes()
    };
    let chunked = |body: &str| {
        let close = "connection: close\r\n";
        format!("{HEAD}{close}transfer-encoding: chunked\r\n\r\n{body}").into_bytes()
    };
    let length = |length: &str| {
        format!("{HEAD}connection: close\r\ncontent-length: {length}\r\n\r\n").into_bytes()
    };
    check(
        &attacked,
        &[
            ("many headers", get("/", &"a: b\r\n".repeat(5_000)), &[431]),
            (
                "a large header",
                get("/", &format!("a: {}\r\n", "b".repeat(1_000_000))),
                &[431],
            ),
            (
                "a large name",
                get("/", &format!("{}: b\r\n", "a".repeat(70_000))),
                &[400, 431],
            ),
            (
                "a large path",
                get(&format!("/{}", "a".repeat(200_000)), ""),
                &[414, 431],
            ),
            ("a large method", vec![b'A'; 200_000], &[400, 431, 414]),
            (
                "a large chunk",
                chunked("FFFFFFFFFFFFFFF\r\n"),
                &[400, 408, 413],
            ),
            (
                "a chunk beyond counting",
                chunked(&format!("{}\r\n", "F".repeat(40))),
                &[400],
            ),
            (
                "a chunk's extension",
                chunked(&format!("1;{}\r\n", "a".repeat(1_000_000))),
                &[400, 0],
            ),
            (
                "a million small chunks",
                chunked(&"1\r\na\r\n".repeat(1_000_000)),
                &[413],
            ),
            (
                "trailers",
                chunked(&format!("0\r\n{}\r\n", "a: b\r\n".repeat(100_000))),
                &[400],
            ),
            ("a long body told", length("99999999999"), &[413]),
            ("a length beyond counting", length(&"9".repeat(40)), &[400]),
            ("a negative length", length("-1"), &[400]),
            ("two lengths", length("1\r\ncontent-length: 2"), &[400]),
        ],
    )
    .await;
    attacked.is_unharmed().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn no_request_is_hidden_in_another_one() {
    let attacked = Attacked::start().await;
    let hidden = "GET /public-api/buildings/ HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n";
    let both =
        format!("{HEAD}content-length: 5\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n{hidden}");
    let turned =
        format!("{HEAD}transfer-encoding: chunked\r\ncontent-length: 5\r\n\r\n0\r\n\r\n{hidden}");
    let unknown = format!("{HEAD}transfer-encoding: chunked, x\r\n\r\n0\r\n\r\n{hidden}");
    let spaced = format!("{HEAD}content-length : 5\r\n\r\nhello{hidden}");
    let folded = format!("{HEAD}a: b\r\n content-length: 5\r\n\r\n{hidden}");
    let null = format!("{HEAD}a: b\0c\r\n\r\n{hidden}");
    let plus = format!("{HEAD}content-length: +5\r\n\r\nhello{hidden}");
    check(
        &attacked,
        &[
            // Both lengths: a proxy in front that goes by the other one would see one request where we see two.
            ("both", both.into_bytes(), &[400]),
            ("both, turned", turned.into_bytes(), &[400]),
            ("an unknown coding", unknown.into_bytes(), &[400]),
            ("a space before the colon", spaced.into_bytes(), &[400]),
            ("a folded header", folded.into_bytes(), &[400]),
            ("a zero in a header", null.into_bytes(), &[400]),
            ("a sign in a length", plus.into_bytes(), &[400]),
        ],
    )
    .await;
    attacked.is_unharmed().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn bytes_that_are_no_text_and_other_protocols_are_refused() {
    let attacked = Attacked::start().await;
    let close = b"connection: close\r\n\r\n";
    let join = |parts: &[&[u8]]| parts.concat();
    check(
        &attacked,
        &[
            ("a path", join(&[b"GET /\xff\xfe HTTP/1.1\r\nhost: a\r\n", close]), &[400, 401]),
            ("a header", join(&[b"GET /x HTTP/1.1\r\nhost: a\r\nauthorization: \xff\r\n", close]), &[401]),
            ("a name", join(&[b"GET /x HTTP/1.1\r\n\xff: a\r\n", close]), &[400]),
            ("a host", join(&[b"GET /x HTTP/1.1\r\nhost: \xff\r\n", close]), &[400, 401]),
            ("a body", join(&[HEAD.as_bytes(), b"content-length: 4\r\n", close, b"\xff\xfe\xfd\xfc"]), &[400]),
            ("HTTP/2 without asking", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0".to_vec(), &[0, 400]),
            ("HTTP/0.9", b"GET /\r\n\r\n".to_vec(), &[400]),
            ("HTTP/3", b"GET / HTTP/3.0\r\n\r\n".to_vec(), &[400]),
            ("TLS", b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03".repeat(20), &[400]),
            ("MQTT", b"\x10\x0d\x00\x04MQTT\x04\x02\x00\x05\x00\x01?".to_vec(), &[400]),
            ("a proxy's request", join(&[b"CONNECT a:1 HTTP/1.1\r\nhost: a\r\n", close]), &[400, 401, 404, 405]),
            ("an upgrade", join(&[b"GET /public-api/buildings/ HTTP/1.1\r\nhost: a\r\nupgrade: h2c\r\nhttp2-settings: AAA\r\n", close]), &[401]),
        ],
    )
    .await;
    attacked.is_unharmed().await;
}
