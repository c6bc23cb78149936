//! Every problem that a caller can meet, and its RFC 9457 body: status codes live here only.

use crate::limits::{BODY_BYTES, RETRY_AFTER_S, VIOLATIONS_LISTED};
use crate::password::PasswordFailure;
use crate::token::{SigningFailure, TokenRefusal};
use axum::body::Body;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use schemars::JsonSchema;
use serde::Serialize;
use std::borrow::Cow;
use store::StoreFailure;

/// Why a request is not answered as asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Problem {
    /// The request has no bearer token.
    NotAuthenticated,
    /// It has one that is worth nothing; why, for people.
    TokenNotValid(&'static str),
    /// The token's user is disabled or does not exist any more.
    UserNotActive,
    /// User name and password do not belong together, or the user is disabled.
    AuthenticationFailed,
    /// Too many logins of this name or from this address have failed; seconds to wait.
    TooManyFailedLogins(u64),
    /// The user's requests of this hour are spent; seconds until the next one.
    TooManyRequests(u64),
    /// The user has as many refresh tokens as a user may have.
    TooManyOutstandingTokens,
    /// The user is linked to the building, but may not do this.
    PermissionDenied,
    /// There is no such thing, or none that the user may know of.
    NotFound,
    /// The body did not come in time.
    BodyTooSlow,
    /// The body is over [`BODY_BYTES`].
    BodyTooLarge,
    /// The request breaks these rules.
    Invalid(Vec<Violation>),
    /// The `Idempotency-Key` was used for another body.
    IdempotencyKeyReused,
    /// Cannot be answered now; why, for the log.
    Unavailable(String),
    /// Should not happen; what, for the log.
    Internal(String),
    /// What a library answered by itself.
    Other(StatusCode),
}

/// A rule that a request breaks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct Violation {
    /// JSON pointer into the body; of a query parameter its name behind a slash.
    pub(crate) field: String,
    /// The rule, stable.
    pub(crate) code: &'static str,
    /// The rule, for people.
    pub(crate) detail: String,
}

impl Violation {
    pub(crate) fn new(
        field: impl Into<String>,
        code: &'static str,
        detail: impl Into<String>,
    ) -> Self {
        Self {
            field: field.into(),
            code,
            detail: detail.into(),
        }
    }
}

impl Problem {
    /// The status and the stable code.
    fn row(&self) -> (StatusCode, &'static str) {
        match self {
            Self::NotAuthenticated => (StatusCode::UNAUTHORIZED, "not_authenticated"),
            Self::TokenNotValid(_) | Self::UserNotActive => {
                (StatusCode::UNAUTHORIZED, "token_not_valid")
            }
            Self::AuthenticationFailed => (StatusCode::UNAUTHORIZED, "authentication_failed"),
            Self::TooManyFailedLogins(_) => {
                (StatusCode::TOO_MANY_REQUESTS, "too_many_failed_logins")
            }
            Self::TooManyRequests(_) => (StatusCode::TOO_MANY_REQUESTS, "too_many_requests"),
            Self::TooManyOutstandingTokens => {
                (StatusCode::FORBIDDEN, "too_many_outstanding_tokens")
            }
            Self::PermissionDenied => (StatusCode::FORBIDDEN, "permission_denied"),
            Self::NotFound => (StatusCode::NOT_FOUND, "not_found"),
            Self::BodyTooSlow => (StatusCode::REQUEST_TIMEOUT, "request_timeout"),
            Self::BodyTooLarge => (StatusCode::PAYLOAD_TOO_LARGE, "body_too_large"),
            Self::Invalid(_) => (StatusCode::BAD_REQUEST, "invalid"),
            Self::IdempotencyKeyReused => (StatusCode::CONFLICT, "idempotency_key_reused"),
            Self::Unavailable(_) => (StatusCode::SERVICE_UNAVAILABLE, "unavailable"),
            Self::Internal(_) => (StatusCode::INTERNAL_SERVER_ERROR, "internal_error"),
            Self::Other(StatusCode::NOT_FOUND) => Self::NotFound.row(),
            Self::Other(StatusCode::METHOD_NOT_ALLOWED) => {
                (StatusCode::METHOD_NOT_ALLOWED, "method_not_allowed")
            }
            Self::Other(status) if status.is_server_error() => (*status, "internal_error"),
            Self::Other(status) => (*status, "refused"),
        }
    }

    /// The status.
    pub(crate) fn status(&self) -> StatusCode {
        self.row().0
    }

    /// The stable code.
    pub(crate) fn code(&self) -> &'static str {
        self.row().1
    }

    /// The words, for people.
    pub(crate) fn detail(&self) -> Cow<'static, str> {
        let words = match self {
            Self::NotAuthenticated => "the request has no bearer token",
            Self::TokenNotValid(why) => why,
            Self::UserNotActive => "Token is of a user who is not active",
            Self::AuthenticationFailed => "no active user has this name and this password",
            Self::TooManyFailedLogins(_) => "too many logins have failed, try again later",
            Self::TooManyRequests(_) => "the requests of this hour are spent, try again later",
            Self::TooManyOutstandingTokens => "there are too many outstanding tokens",
            Self::PermissionDenied => "a viewer of this building may only read",
            Self::NotFound => "there is no such object",
            Self::BodyTooSlow => "the body did not come in time",
            Self::BodyTooLarge => return format!("the body is over {BODY_BYTES} bytes").into(),
            Self::Invalid(_) => "the request breaks the rules that errors names",
            Self::IdempotencyKeyReused => {
                "the Idempotency-Key was used for another body within 24 hours"
            }
            Self::Unavailable(_) => "the service cannot answer now, try again later",
            Self::Internal(_) => "the service failed; request_id names the failure",
            Self::Other(StatusCode::NOT_FOUND) => return Self::NotFound.detail(),
            Self::Other(StatusCode::METHOD_NOT_ALLOWED) => "the path does not have this method",
            Self::Other(status) => status
                .canonical_reason()
                .unwrap_or("the request was refused"),
        };
        words.into()
    }

    /// The body, as the outermost layer sends it.
    pub(crate) fn body(&self, request_id: &str) -> Document<'_> {
        let (status, code) = self.row();
        Document {
            kind: "about:blank",
            title: status.canonical_reason().unwrap_or("Error"),
            status: status.as_u16(),
            detail: self.detail(),
            code,
            errors: if let Self::Invalid(violations) = self {
                Some(violations.get(..VIOLATIONS_LISTED).unwrap_or(violations))
            } else {
                None
            },
            request_id: status.is_server_error().then(|| request_id.to_owned()),
        }
    }
}

/// Why a request is not answered as asked (RFC 9457).
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Problem")]
pub(crate) struct Document<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    /// The status in words.
    title: &'static str,
    status: u16,
    /// What happened, for people.
    detail: Cow<'static, str>,
    /// What happened, for machines; stable.
    code: &'static str,
    /// Of a 400: every rule that the request breaks.
    #[serde(skip_serializing_if = "Option::is_none")]
    errors: Option<&'a [Violation]>,
    /// Of a server error: what names it in the service's log.
    #[serde(skip_serializing_if = "Option::is_none")]
    request_id: Option<String>,
}

impl IntoResponse for Problem {
    /// Status, headers and the problem itself; [`complete`] makes the body of it.
    fn into_response(self) -> Response {
        let mut response = self.row().0.into_response();
        let headers = response.headers_mut();
        match &self {
            Self::NotAuthenticated
            | Self::TokenNotValid(_)
            | Self::UserNotActive
            | Self::AuthenticationFailed => {
                headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
            }
            Self::TooManyFailedLogins(seconds) | Self::TooManyRequests(seconds) => {
                headers.insert(header::RETRY_AFTER, HeaderValue::from(*seconds));
            }
            Self::Unavailable(_) => {
                headers.insert(header::RETRY_AFTER, HeaderValue::from(RETRY_AFTER_S));
            }
            Self::TooManyOutstandingTokens
            | Self::PermissionDenied
            | Self::NotFound
            | Self::BodyTooSlow
            | Self::BodyTooLarge
            | Self::Invalid(_)
            | Self::IdempotencyKeyReused
            | Self::Internal(_)
            | Self::Other(_) => {}
        }
        response.extensions_mut().insert(self);
        response
    }
}

/// Gives every error its problem body, also those that a library answered, and writes the cause of
/// those that are the service's own fault into the log, with the request's id.
pub(crate) fn complete(mut response: Response, request_id: &str) -> Response {
    let status = response.status();
    if !status.is_client_error() && !status.is_server_error() {
        return response;
    }
    let problem = response
        .extensions_mut()
        .remove::<Problem>()
        .unwrap_or(Problem::Other(status));
    log(&problem, request_id);
    let (mut parts, _) = response.into_parts();
    match serde_json::to_vec(&problem.body(request_id)) {
        Ok(body) => {
            describe_body(&mut parts.headers);
            Response::from_parts(parts, Body::from(body))
        }
        Err(error) => {
            tracing::error!(request_id, %error, "cannot write a problem body");
            Response::from_parts(parts, Body::empty())
        }
    }
}

fn describe_body(headers: &mut HeaderMap) {
    headers.remove(header::CONTENT_LENGTH);
    let problem = HeaderValue::from_static("application/problem+json");
    headers.insert(header::CONTENT_TYPE, problem);
}

fn log(problem: &Problem, request_id: &str) {
    if let Problem::Internal(cause) = problem {
        tracing::error!(request_id, cause, "request failed");
    }
    // An outage is logged once, by the condition that watches the database.
    if let Problem::Unavailable(cause) = problem {
        tracing::debug!(request_id, cause, "request not answered");
    }
}

impl From<StoreFailure> for Problem {
    fn from(failure: StoreFailure) -> Self {
        if failure.is_transient() {
            Self::Unavailable(failure.to_string())
        } else {
            Self::Internal(failure.to_string())
        }
    }
}

impl From<PasswordFailure> for Problem {
    fn from(failure: PasswordFailure) -> Self {
        Self::Internal(failure.to_string())
    }
}

impl From<TokenRefusal> for Problem {
    fn from(refusal: TokenRefusal) -> Self {
        Self::TokenNotValid(refusal.as_str())
    }
}

impl From<SigningFailure> for Problem {
    fn from(failure: SigningFailure) -> Self {
        Self::Internal(failure.to_string())
    }
}
