//! Any token, and any header and claims that are signed with the right key: only what the service itself could have made
//! is taken, judged by a reading of its own.
//!
//! The first byte tells which: 0 is a token as it stands; otherwise a header, a line's end, and claims.

use api::token::Keys;
use api::untrusted::token_user;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use domain::time::Timestamp;
use serde_json::Value;
use sha2::{Digest as _, Sha256};

const NOW: i64 = 1_700_000_000;
/// 32 bytes that are all `k`.
const SECRET: [u8; 32] = [b'k'; 32];
const KEY_LINE: &str = "kid a2tra2tra2tra2tra2tra2tra2tra2tra2tra2tra2s=";

/// Asserts it.
pub fn check(input: &[u8]) {
    let keys = Keys::parse(KEY_LINE).unwrap();
    let token = match input.split_first() {
        None => String::new(),
        Some((0, token)) => String::from_utf8_lossy(token).into_owned(),
        Some((_, parts)) => signed(parts),
    };
    let now = Timestamp::from_seconds(NOW);
    let access = token_user(&keys, &token, false, now);
    let refresh = token_user(&keys, &token, true, now);
    assert!(access.is_none() || refresh.is_none(), "both: {token}");
    for (user, kind) in [(access, "access"), (refresh, "refresh")] {
        if let Some(user) = user {
            judge(&token, &user, kind);
        }
    }
}

/// A token with this header and these claims, signed as the service signs.
fn signed(parts: &[u8]) -> String {
    let end = parts
        .iter()
        .position(|it| *it == b'\n')
        .unwrap_or(parts.len());
    let (header, claims) = parts.split_at(end);
    let claims = claims.strip_prefix(b"\n").unwrap_or(claims);
    let body = format!(
        "{}.{}",
        URL_SAFE_NO_PAD.encode(header),
        URL_SAFE_NO_PAD.encode(claims)
    );
    let signature = URL_SAFE_NO_PAD.encode(hmac(body.as_bytes()));
    format!("{body}.{signature}")
}

fn judge(token: &str, user: &str, kind: &str) {
    let (body, signature) = token.rsplit_once('.').unwrap();
    let expected = URL_SAFE_NO_PAD.encode(hmac(body.as_bytes()));
    assert_eq!(signature, expected, "the signature is the key's");
    let (header, claims) = body.split_once('.').unwrap();
    let read = |part: &str| -> Value {
        serde_json::from_slice(&URL_SAFE_NO_PAD.decode(part).unwrap()).unwrap()
    };
    let (header, claims) = (read(header), read(claims));
    assert_eq!(header["alg"], "HS256", "the algorithm is pinned");
    assert_eq!(header["kid"], "kid");
    assert_eq!(
        (&claims["typ"], &claims["token_type"]),
        (&kind.into(), &kind.into())
    );
    assert_eq!(claims["sub"], user);
    let is = |name: &str, text: &str| {
        let value = &claims[name];
        value == text
            || value
                .as_array()
                .is_some_and(|all| all.iter().any(|it| it == text))
    };
    assert!(
        is("iss", "wattline") && is("aud", "wattline-public-api"),
        "{claims}"
    );
    assert!(
        claims["exp"].as_i64().is_some_and(|it| it > NOW),
        "{claims}"
    );
}

/// RFC 2104 with SHA-256, for a key shorter than a block.
fn hmac(text: &[u8]) -> Vec<u8> {
    let pad = |with: u8| -> Vec<u8> {
        let mut block = [with; 64];
        for (byte, key) in block.iter_mut().zip(SECRET) {
            *byte ^= key;
        }
        block.to_vec()
    };
    let inner = Sha256::digest([&pad(0x36), text].concat());
    Sha256::digest([&pad(0x5c)[..], &inner[..]].concat()).to_vec()
}
