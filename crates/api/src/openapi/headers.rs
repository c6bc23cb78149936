//! The headers of answers, and which answers have them.

use crate::description::AnswerHeader;
use crate::router::Access;
use axum::http::StatusCode;
use serde_json::{Map, Value, json};

/// Every header that the document names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Header {
    RequestId,
    RateLimitLimit,
    RateLimitRemaining,
    RateLimitReset,
    RetryAfter,
    WwwAuthenticate,
    Allow,
    Location,
    Link,
}

const ALL: [Header; 9] = [
    Header::RequestId,
    Header::RateLimitLimit,
    Header::RateLimitRemaining,
    Header::RateLimitReset,
    Header::RetryAfter,
    Header::WwwAuthenticate,
    Header::Allow,
    Header::Location,
    Header::Link,
];

impl Header {
    const fn name(self) -> &'static str {
        match self {
            Self::RequestId => "X-Request-Id",
            Self::RateLimitLimit => "RateLimit-Limit",
            Self::RateLimitRemaining => "RateLimit-Remaining",
            Self::RateLimitReset => "RateLimit-Reset",
            Self::RetryAfter => "Retry-After",
            Self::WwwAuthenticate => "WWW-Authenticate",
            Self::Allow => "Allow",
            Self::Location => "Location",
            Self::Link => "Link",
        }
    }

    const fn text(self) -> &'static str {
        match self {
            Self::RequestId => {
                "Names the request in the service's log. One that comes with the request is kept if it \
                 is 1 to 128 characters of `[A-Za-z0-9._-]`."
            }
            Self::RateLimitLimit => "Requests that the user has in an hour.",
            Self::RateLimitRemaining => "Requests that are left of them.",
            Self::RateLimitReset => "Seconds until the hour is over.",
            Self::RetryAfter => "Seconds after which the same request may be answered.",
            Self::WwwAuthenticate => "The authentication scheme.",
            Self::Allow => "The methods that the path has.",
            Self::Location => "The path of what was made.",
            Self::Link => "`<path>; rel=\"next\"` where there is a next page.",
        }
    }

    fn schema(self) -> Value {
        match self {
            Self::RequestId => json!({"type": "string", "minLength": 1, "maxLength": 128}),
            Self::RateLimitLimit
            | Self::RateLimitRemaining
            | Self::RateLimitReset
            | Self::RetryAfter => json!({"type": "integer", "minimum": 0}),
            Self::WwwAuthenticate => json!({"const": "Bearer"}),
            Self::Allow => json!({"type": "string", "minLength": 1}),
            Self::Location => json!({"type": "string", "format": "uri-reference"}),
            Self::Link => json!({"type": "string", "pattern": "^<.+>; rel=\"next\"$"}),
        }
    }
}

/// The components that answers refer to.
pub(super) fn components() -> Map<String, Value> {
    let component = |header: Header| {
        let value = json!({
            "description": header.text(),
            "required": header != Header::Link,
            "schema": header.schema(),
        });
        (header.name().to_owned(), value)
    };
    ALL.into_iter().map(component).collect()
}

/// The headers of an answer with this status to somebody who came in by this access.
pub(super) fn of(access: Access, status: StatusCode, own: &[AnswerHeader]) -> Value {
    let mut headers = vec![Header::RequestId];
    // Without a valid token there is no budget; where the service fails it may not know the budget.
    let budgeted =
        access != Access::Open && status != StatusCode::UNAUTHORIZED && !status.is_server_error();
    if budgeted {
        headers.extend([
            Header::RateLimitLimit,
            Header::RateLimitRemaining,
            Header::RateLimitReset,
        ]);
    }
    match status {
        StatusCode::UNAUTHORIZED => headers.push(Header::WwwAuthenticate),
        StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE => {
            headers.push(Header::RetryAfter);
        }
        StatusCode::METHOD_NOT_ALLOWED => headers.push(Header::Allow),
        _ => {}
    }
    headers.extend(own.iter().map(|header| match header {
        AnswerHeader::Location => Header::Location,
        AnswerHeader::Link => Header::Link,
    }));
    let reference = |header: Header| {
        let target = format!("#/components/headers/{}", header.name());
        (header.name().to_owned(), json!({"$ref": target}))
    };
    Value::Object(headers.into_iter().map(reference).collect())
}
