//! JSON bodies, read as a whole.

use crate::error::{Problem, Violation};
use crate::extract::Fields;
use crate::extract::bytes::read_in_time;
use axum::extract::{FromRequest, Request};
use serde_json::Value;
use wire::json;

/// A body that is one JSON object; whatever content type it claims to have.
pub(crate) struct JsonObject(pub(crate) Fields);

/// The same, for those who keep what was sent.
pub(crate) struct JsonText {
    /// The body as it was sent, but for numbers that no double can hold.
    pub(crate) text: String,
    /// What it says.
    pub(crate) fields: Fields,
}

impl<S: Send + Sync> FromRequest<S> for JsonObject {
    type Rejection = Problem;

    async fn from_request(request: Request, state: &S) -> Result<Self, Problem> {
        let read = JsonText::from_request(request, state).await?;
        Ok(Self(read.fields))
    }
}

impl<S: Send + Sync> FromRequest<S> for JsonText {
    type Rejection = Problem;

    async fn from_request(request: Request, _: &S) -> Result<Self, Problem> {
        let (parts, body) = request.into_parts();
        Self::of(read_in_time(&parts, body).await?)
    }
}

impl JsonText {
    /// Reads a body that has come as a whole.
    pub(crate) fn of(bytes: Vec<u8>) -> Result<Self, Problem> {
        let not_json = || whole_body("not_json", "the body must be JSON");
        let (tree, document) = json::parse_to_keep(bytes).map_err(|_| not_json())?;
        let Value::Object(properties) = tree else {
            let rule = "the body must be a JSON object";
            return Err(whole_body("not_an_object", rule));
        };
        Ok(Self {
            text: String::from_utf8(document).map_err(|_| not_json())?,
            fields: Fields::new(properties),
        })
    }
}

/// What is wrong with a body as a whole.
pub(super) fn whole_body(code: &'static str, detail: &str) -> Problem {
    Problem::Invalid(vec![Violation::new("", code, detail)])
}
