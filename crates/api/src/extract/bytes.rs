//! The bytes of a body: at most so many, and in time.

use crate::error::Problem;
use crate::extract::body::whole_body;
use crate::limits::{BODY_BYTES, BODY_READ_TIMEOUT, DISCARDED_BODY_BYTES};
use crate::turn::Turn;
use axum::body::{Body, HttpBody};
use axum::extract::Request;
use axum::http::request::Parts;
use axum::http::{Method, StatusCode};
use axum::middleware::Next;
use axum::response::Response;
use futures_util::StreamExt;
use tokio::time::timeout;

/// Refuses a body that is too large where none is asked for; a smaller one is passed over. Methods
/// that take a body read it themselves.
pub(crate) async fn refuse_large_body(request: Request, next: Next) -> Result<Response, Problem> {
    let takes_a_body = [Method::POST, Method::PUT, Method::PATCH].contains(request.method());
    if takes_a_body || request.body().is_end_stream() {
        return Ok(next.run(request).await);
    }
    let (parts, body) = request.into_parts();
    let refusal = match read_in_time(&parts, body).await {
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

/// The whole body of a request, in time; others may work while it comes.
pub(super) async fn read_in_time(parts: &Parts, body: Body) -> Result<Vec<u8>, Problem> {
    let reading = timeout(BODY_READ_TIMEOUT, read(body));
    Turn::aside(&parts.extensions, reading)
        .await?
        .map_err(|_| Problem::BodyTooSlow)?
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
