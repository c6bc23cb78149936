//! What both token endpoints answer.

use crate::token::{KeyRing, SigningFailure, TokenKind};
use domain::time::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;
use store::RefreshToken;

/// An access token and the refresh token that replaces it.
#[derive(Serialize, JsonSchema)]
pub(crate) struct TokenPair {
    /// JSON Web Token, valid 15 minutes.
    access: String,
    /// JSON Web Token, valid 60 days, for one use.
    refresh: String,
}

impl TokenPair {
    /// A pair for `username`, and what the store is to remember of it.
    pub(crate) fn issue(
        keys: &KeyRing,
        username: &str,
        now: Timestamp,
    ) -> Result<(Self, RefreshToken), SigningFailure> {
        let access = keys.issue(TokenKind::Access, username, now)?;
        let refresh = keys.issue(TokenKind::Refresh, username, now)?;
        let remembered = RefreshToken {
            jti: refresh.jti,
            issued_at: refresh.issued_at,
            expires_at: refresh.expires_at,
        };
        let pair = Self {
            access: access.token,
            refresh: refresh.token,
        };
        Ok((pair, remembered))
    }
}
