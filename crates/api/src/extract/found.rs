//! The answer of a read that may have no value to give.

use axum::Json;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde::Serialize;

/// 200 with the value, or 204 without a body.
pub(crate) struct Found<T>(pub(crate) Option<T>);

impl<T: Serialize> IntoResponse for Found<T> {
    fn into_response(self) -> Response {
        match self.0 {
            Some(value) => Json(value).into_response(),
            None => StatusCode::NO_CONTENT.into_response(),
        }
    }
}
