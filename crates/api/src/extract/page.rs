//! The answer of a list that comes page by page.

use crate::error::Problem;
use axum::Json;
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};
use serde::Serialize;

/// One page, and where the next one is: a path with its query.
pub(crate) struct Page<T> {
    pub(crate) items: Vec<T>,
    pub(crate) next: Option<String>,
}

impl<T: Serialize> IntoResponse for Page<T> {
    fn into_response(self) -> Response {
        let mut response = Json(self.items).into_response();
        if let Some(next) = self.next {
            let Ok(link) = HeaderValue::from_str(&format!("<{next}>; rel=\"next\"")) else {
                return Problem::Internal(format!("a link to {next:?}")).into_response();
            };
            response.headers_mut().insert(header::LINK, link);
        }
        response
    }
}
