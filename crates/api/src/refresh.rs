//! `POST /public-api/token/refresh/`: a token pair for a refresh token, which is used up.

use crate::error::Problem;
use crate::extract::JsonObject;
use crate::state::Api;
use crate::token::{TokenKind, TokenPair};
use axum::Json;
use axum::extract::State;
use store::RefreshRefusal;

pub(crate) async fn refresh(
    State(api): State<Api>,
    JsonObject(mut fields): JsonObject,
) -> Result<Json<TokenPair>, Problem> {
    let token = fields.required_string("refresh");
    let token = fields.finish(token)?;
    let now = api.now();
    let used = api.keys.verify(TokenKind::Refresh, &token, now)?;
    let (pair, successor) = TokenPair::issue(&api.keys, &used.sub, now)?;
    match api.store.refresh(&used.sub, used.jti, successor).await? {
        Ok(()) => Ok(Json(pair)),
        Err(RefreshRefusal::Blacklisted) => Err(Problem::TokenNotValid("Token is blacklisted")),
        Err(RefreshRefusal::Inactive) => Err(Problem::UserNotActive),
    }
}
