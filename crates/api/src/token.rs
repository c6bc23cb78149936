//! Signed tokens: what they say, who signed them, and for how long they are worth something.
//!
//! JSON Web Tokens, HS256 and nothing else. A key's id travels in the header (`kid`), so that keys can
//! be changed: the newest signs, all that the key file still has verify.

mod key_file;
mod key_ring;
mod pair;

use domain::time::Timestamp;
use jsonwebtoken::{Algorithm, DecodingKey, EncodingKey, Header, Validation};
pub use key_file::KeyFileFailure;
pub use key_ring::KeyRing;
pub(crate) use pair::TokenPair;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::sync::Arc;
use thiserror::Error;
use uuid::Uuid;

const ALGORITHM: Algorithm = Algorithm::HS256;
const ISSUER: &str = "wattline";
const AUDIENCE: &str = "wattline-public-api";

/// Lifetimes (`interface.md`, limits).
const ACCESS_LIFETIME_S: i64 = 15 * 60;
const REFRESH_LIFETIME_S: i64 = 60 * 24 * 60 * 60;

/// What a token is good for; one is never taken for the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum TokenKind {
    Access,
    Refresh,
}

impl TokenKind {
    const fn lifetime_s(self) -> i64 {
        match self {
            Self::Access => ACCESS_LIFETIME_S,
            Self::Refresh => REFRESH_LIFETIME_S,
        }
    }
}

/// What a token says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Claims {
    pub(crate) token_type: TokenKind,
    /// The same again, under the other name by which clients look for it.
    typ: TokenKind,
    /// User name.
    pub(crate) sub: String,
    /// The token's own identity.
    pub(crate) jti: Uuid,
    /// Epoch seconds.
    iat: i64,
    /// Epoch seconds; the first at which the token is worth nothing.
    exp: i64,
    iss: String,
    aud: String,
}

/// A token that was just made.
#[derive(Clone, Debug)]
pub(crate) struct Issued {
    pub(crate) token: String,
    pub(crate) jti: Uuid,
    pub(crate) issued_at: Timestamp,
    pub(crate) expires_at: Timestamp,
}

/// Why a token is worth nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TokenRefusal {
    /// Signed by a key that is not known.
    UnknownKey,
    /// Not signed by the key that it names, or not for this service.
    NotOurs,
    /// Its time is over.
    Expired,
    /// An access token where a refresh token is needed, or the reverse.
    WrongKind,
}

impl TokenRefusal {
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::UnknownKey | Self::NotOurs => "Token is invalid",
            Self::Expired => "Token is expired",
            Self::WrongKind => "Token has wrong type",
        }
    }
}

/// A token that could not be signed.
#[derive(Debug, Error)]
#[error("cannot sign a token: {0}")]
pub(crate) struct SigningFailure(jsonwebtoken::errors::Error);

/// The signing keys, newest first; cheap to clone. Its `Debug` shows ids only.
#[derive(Clone)]
pub struct Keys(Arc<Ring>);

struct Ring {
    newest: Key,
    older: Vec<Key>,
    validation: Validation,
}

struct Key {
    kid: String,
    signs: EncodingKey,
    verifies: DecodingKey,
}

impl Key {
    fn new(kid: &str, secret: &[u8]) -> Self {
        Self {
            kid: kid.to_owned(),
            signs: EncodingKey::from_secret(secret),
            verifies: DecodingKey::from_secret(secret),
        }
    }
}

impl Keys {
    fn new(newest: Key, older: Vec<Key>) -> Self {
        let mut validation = Validation::new(ALGORITHM);
        validation.set_issuer(&[ISSUER]);
        validation.set_audience(&[AUDIENCE]);
        validation.set_required_spec_claims(&["exp", "iss", "aud", "sub"]);
        // Checked against the service's own clock instead.
        validation.validate_exp = false;
        Self(Arc::new(Ring {
            newest,
            older,
            validation,
        }))
    }

    fn all(&self) -> impl Iterator<Item = &Key> {
        std::iter::once(&self.0.newest).chain(&self.0.older)
    }

    /// Makes a token that is worth something from now on.
    pub(crate) fn issue(
        &self,
        kind: TokenKind,
        username: &str,
        now: Timestamp,
    ) -> Result<Issued, SigningFailure> {
        let claims = Claims {
            token_type: kind,
            typ: kind,
            sub: username.to_owned(),
            jti: Uuid::new_v4(),
            iat: now.seconds(),
            exp: now.seconds().saturating_add(kind.lifetime_s()),
            iss: ISSUER.to_owned(),
            aud: AUDIENCE.to_owned(),
        };
        let key = &self.0.newest;
        let mut header = Header::new(ALGORITHM);
        header.kid = Some(key.kid.clone());
        let token = jsonwebtoken::encode(&header, &claims, &key.signs).map_err(SigningFailure)?;
        Ok(Issued {
            token,
            jti: claims.jti,
            issued_at: Timestamp::from_seconds(claims.iat),
            expires_at: Timestamp::from_seconds(claims.exp),
        })
    }

    /// What a token says, if it is of this kind and worth something now.
    pub(crate) fn verify(
        &self,
        kind: TokenKind,
        token: &str,
        now: Timestamp,
    ) -> Result<Claims, TokenRefusal> {
        let header = jsonwebtoken::decode_header(token).map_err(|_| TokenRefusal::NotOurs)?;
        let kid = header.kid.ok_or(TokenRefusal::NotOurs)?;
        let key = self.all().find(|key| key.kid == kid);
        let key = key.ok_or(TokenRefusal::UnknownKey)?;
        let claims: Claims = jsonwebtoken::decode(token, &key.verifies, &self.0.validation)
            .map_err(|_| TokenRefusal::NotOurs)?
            .claims;
        if claims.token_type != kind || claims.typ != kind {
            return Err(TokenRefusal::WrongKind);
        }
        if now >= Timestamp::from_seconds(claims.exp) {
            return Err(TokenRefusal::Expired);
        }
        Ok(claims)
    }
}

impl fmt::Debug for Keys {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_list()
            .entries(self.all().map(|key| &key.kid))
            .finish()
    }
}

#[cfg(test)]
mod tests;
