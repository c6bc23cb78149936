//! Where a request came from.

use crate::error::Problem;
use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use std::net::IpAddr;

/// The address of the client that sent the request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ClientAddress(pub(crate) IpAddr);

impl<S: Send + Sync> FromRequestParts<S> for ClientAddress {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        let address = parts.extensions.get::<Self>().copied();
        address.ok_or_else(|| Problem::Internal("a request without an address".to_owned()))
    }
}
