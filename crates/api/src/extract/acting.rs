//! Who acts, and from where: what is remembered of everything that changes something.

use crate::error::Problem;
use crate::extract::{ClientAddress, User};
use crate::state::Api;
use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use store::Who;

/// A user who acts.
#[derive(Clone, Debug)]
pub(crate) struct Acting {
    username: String,
    address: String,
}

impl Acting {
    pub(crate) fn who(&self) -> Who<'_> {
        Who {
            username: &self.username,
            address: &self.address,
        }
    }
}

impl FromRequestParts<Api> for Acting {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, api: &Api) -> Result<Self, Problem> {
        let User { username } = User::from_request_parts(parts, api).await?;
        let ClientAddress(address) = ClientAddress::from_request_parts(parts, api).await?;
        Ok(Self {
            username,
            address: address.to_string(),
        })
    }
}
