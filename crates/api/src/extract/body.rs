//! JSON bodies, read as a whole and taken apart property by property, so that all violations are
//! told at once.

use crate::error::{Problem, Violation};
use crate::limits::{BODY_BYTES, BODY_READ_TIMEOUT, DISCARDED_BODY_BYTES};
use axum::body::Body;
use axum::body::HttpBody;
use axum::extract::{FromRequest, Request};
use axum::http::{Method, StatusCode};
use axum::middleware::Next;
use axum::response::Response;
use futures_util::StreamExt;
use serde_json::{Map, Value};
use tokio::time::timeout;

/// A body that is one JSON object; whatever content type it claims to have.
pub(crate) struct JsonObject(pub(crate) Fields);

/// The properties of an object that have not been taken yet, and what was wrong with the others.
#[derive(Debug)]
pub(crate) struct Fields {
    properties: Map<String, Value>,
    violations: Vec<Violation>,
}

impl Fields {
    pub(crate) fn new(properties: Map<String, Value>) -> Self {
        Self {
            properties,
            violations: Vec::new(),
        }
    }

    /// Takes a string that must be there.
    pub(crate) fn required_string(&mut self, name: &str) -> Option<String> {
        match self.properties.shift_remove(name) {
            Some(Value::String(text)) => return Some(text),
            Some(_) => self.violate(name, "not_a_string", "must be a string"),
            None => self.violate(name, "required", "must be there"),
        }
        None
    }

    fn violate(&mut self, name: &str, code: &'static str, rule: &str) {
        let field = pointer(name);
        self.violations
            .push(Violation::new(field, code, format!("{name} {rule}")));
    }

    /// Gives `value`, what was made of the properties, unless a rule is broken; a property that
    /// nobody took is unknown.
    pub(crate) fn finish<T>(mut self, value: Option<T>) -> Result<T, Problem> {
        let unknown: Vec<String> = self.properties.keys().cloned().collect();
        for name in unknown {
            self.violate(
                &name,
                "unknown_property",
                "is not a property of this request",
            );
        }
        if !self.violations.is_empty() {
            return Err(Problem::Invalid(self.violations));
        }
        value.ok_or_else(|| Problem::Internal("a body without violation has no value".to_owned()))
    }
}

/// The JSON pointer of a top-level property.
fn pointer(name: &str) -> String {
    format!("/{}", name.replace('~', "~0").replace('/', "~1"))
}

impl<S: Send + Sync> FromRequest<S> for JsonObject {
    type Rejection = Problem;

    async fn from_request(request: Request, _: &S) -> Result<Self, Problem> {
        let bytes = read_in_time(request.into_body()).await?;
        match serde_json::from_slice(&bytes) {
            Ok(Value::Object(properties)) => Ok(Self(Fields::new(properties))),
            Ok(_) => Err(whole_body(
                "not_an_object",
                "the body must be a JSON object",
            )),
            Err(_) => Err(whole_body("not_json", "the body must be JSON")),
        }
    }
}

/// Refuses a body that is too large where none is asked for; a smaller one is passed over. Methods
/// that take a body read it themselves.
pub(crate) async fn refuse_large_body(request: Request, next: Next) -> Result<Response, Problem> {
    let takes_a_body = [Method::POST, Method::PUT, Method::PATCH].contains(request.method());
    if takes_a_body || request.body().is_end_stream() {
        return Ok(next.run(request).await);
    }
    let (parts, body) = request.into_parts();
    let refusal = match read_in_time(body).await {
        Ok(_) => None,
        // What does not exist is told first; asking for that is safe.
        Err(Problem::BodyTooLarge) if parts.method.is_safe() => Some(Problem::BodyTooLarge),
        Err(problem) => return Err(problem),
    };
    let response = next.run(Request::from_parts(parts, Body::empty())).await;
    match refusal {
        Some(refusal) if response.status() != StatusCode::NOT_FOUND => Err(refusal),
        Some(_) | None => Ok(response),
    }
}

async fn read_in_time(body: Body) -> Result<Vec<u8>, Problem> {
    timeout(BODY_READ_TIMEOUT, read(body))
        .await
        .map_err(|_| Problem::BodyTooSlow)?
}

fn whole_body(code: &'static str, detail: &str) -> Problem {
    Problem::Invalid(vec![Violation::new("", code, detail)])
}

async fn read(body: Body) -> Result<Vec<u8>, Problem> {
    let mut bytes = Vec::new();
    let mut length = 0_usize;
    let mut chunks = body.into_data_stream();
    while let Some(chunk) = chunks.next().await {
        let chunk = chunk.map_err(|_| whole_body("incomplete", "the body ended early"))?;
        length += chunk.len();
        if length > DISCARDED_BODY_BYTES {
            break;
        }
        if length <= BODY_BYTES {
            bytes.extend_from_slice(&chunk);
        }
    }
    if length > BODY_BYTES {
        Err(Problem::BodyTooLarge)
    } else {
        Ok(bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn fields(value: Value) -> Fields {
        let Value::Object(properties) = value else {
            panic!("{value} is no object");
        };
        Fields::new(properties)
    }

    #[test]
    fn all_violations_are_told_at_once_and_unknown_properties_are_named() {
        let mut fields = fields(json!({"username": 5, "user/na~me": 1, "x": null}));
        let username = fields.required_string("username");
        let password = fields.required_string("password");
        let Err(Problem::Invalid(violations)) = fields.finish(username.zip(password)) else {
            panic!("accepted");
        };
        let told: Vec<_> = violations
            .iter()
            .map(|it| (it.field.as_str(), it.code))
            .collect();
        let expected = [
            ("/username", "not_a_string"),
            ("/password", "required"),
            ("/user~1na~0me", "unknown_property"),
            ("/x", "unknown_property"),
        ];
        assert_eq!(told, expected);
    }

    #[tokio::test]
    async fn a_body_may_have_64_kib_and_not_a_byte_more() {
        let length =
            async |bytes: usize| read(Body::from(vec![b' '; bytes])).await.map(|it| it.len());
        assert_eq!(length(BODY_BYTES).await, Ok(BODY_BYTES));
        assert_eq!(length(BODY_BYTES + 1).await, Err(Problem::BodyTooLarge));
        assert_eq!(
            length(2 * DISCARDED_BODY_BYTES).await,
            Err(Problem::BodyTooLarge)
        );
    }
}
