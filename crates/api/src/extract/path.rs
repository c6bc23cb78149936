//! The object in the path, below its building.

use crate::error::Problem;
use crate::extract::parse_uuid;
use crate::state::Api;
use axum::extract::{FromRequestParts, RawPathParams};
use axum::http::request::Parts;
use uuid::Uuid;

/// The last uuid of the path; what is none names nothing that exists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PathUuid(pub(crate) Uuid);

impl FromRequestParts<Api> for PathUuid {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, api: &Api) -> Result<Self, Problem> {
        let path = RawPathParams::from_request_parts(parts, api).await;
        // A path that is not UTF-8 names nothing either.
        let path = path.map_err(|_| Problem::NotFound)?;
        let text = path.iter().last().map(|(_, text)| text);
        let uuid = text.and_then(parse_uuid).ok_or(Problem::NotFound)?;
        Ok(Self(uuid))
    }
}
