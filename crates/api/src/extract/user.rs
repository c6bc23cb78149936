//! The user whose access token came with the request.

use crate::error::Problem;
use crate::state::Api;
use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use axum::http::{HeaderMap, header};

/// A user who is logged in.
#[derive(Clone, Debug)]
pub(crate) struct User {
    /// Name, as in the database.
    pub(crate) username: String,
}

/// The bearer token among these headers.
pub(crate) fn bearer(headers: &HeaderMap) -> Option<&str> {
    let value = headers.get(header::AUTHORIZATION)?.to_str().ok()?;
    let (scheme, token) = value.trim().split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
}

impl FromRequestParts<Api> for User {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &Api) -> Result<Self, Problem> {
        let user = parts.extensions.get::<Self>().cloned();
        user.ok_or_else(|| Problem::Internal("the operation is open to everybody".to_owned()))
    }
}
