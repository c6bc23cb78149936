//! The user whose access token came with the request.

use crate::error::Problem;
use crate::state::Api;
use crate::token::TokenKind;
use axum::extract::{FromRequestParts, Request, State};
use axum::http::request::Parts;
use axum::http::{HeaderMap, header};
use axum::middleware::Next;
use axum::response::Response;

/// A user who is logged in.
#[derive(Clone, Debug)]
pub(crate) struct User {
    /// Name, as in the database.
    pub(crate) username: String,
}

/// Lets only requests with a valid access token through, and tells handlers whose it is.
pub(crate) async fn authenticate(
    State(api): State<Api>,
    mut request: Request,
    next: Next,
) -> Result<Response, Problem> {
    let token = bearer(request.headers()).ok_or(Problem::NotAuthenticated)?;
    let claims = api
        .keys
        .verify(TokenKind::Access, token, api.now())
        .map_err(|refusal| Problem::TokenNotValid(refusal.as_str()))?;
    request.extensions_mut().insert(User {
        username: claims.sub,
    });
    Ok(next.run(request).await)
}

fn bearer(headers: &HeaderMap) -> Option<&str> {
    let value = headers.get(header::AUTHORIZATION)?.to_str().ok()?;
    let (scheme, token) = value.trim().split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
}

impl FromRequestParts<Api> for User {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &Api) -> Result<Self, Problem> {
        let user = parts.extensions.get::<Self>().cloned();
        user.ok_or_else(|| Problem::Internal("the path is not behind authenticate".to_owned()))
    }
}
