//! The bytes of a body: at most so many, and in time.

use crate::error::Problem;
use crate::extract::body::whole_body;
use crate::limits::{BODY_BYTES, BODY_READ_TIMEOUT, DISCARDED_BODY_BYTES};
use crate::turn::Turn;
use axum::body::{Body, HttpBody};
use axum::extract::Request;
use axum::http::request::Parts;
use axum::http::{Method, StatusCode, header};
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
///
/// What is too large is read nevertheless, within the time and up to [`DISCARDED_BODY_BYTES`], so that
/// its sender gets to see the answer; unless the sender asked first, and has not sent it yet.
pub(super) async fn read_in_time(parts: &Parts, body: Body) -> Result<Vec<u8>, Problem> {
    let announced = usize::try_from(body.size_hint().lower()).unwrap_or(usize::MAX);
    if announced > BODY_BYTES && asks_first(parts) {
        return Err(Problem::BodyTooLarge);
    }
    let mut read = BodyRead::default();
    let reading = timeout(BODY_READ_TIMEOUT, read.all(body));
    let in_time = Turn::aside(&parts.extensions, reading).await?;
    if announced.max(read.length) > BODY_BYTES {
        return Err(Problem::BodyTooLarge);
    }
    in_time.map_err(|_| Problem::BodyTooSlow)??;
    Ok(read.bytes)
}

/// Whether the sender waits to be told to go on before it sends the body.
fn asks_first(parts: &Parts) -> bool {
    let expectation = parts.headers.get(header::EXPECT);
    expectation.is_some_and(|it| it.as_bytes().eq_ignore_ascii_case(b"100-continue"))
}

/// What came of a body so far.
#[derive(Debug, Default)]
struct BodyRead {
    /// As long as they are not too many.
    bytes: Vec<u8>,
    /// Bytes that came.
    length: usize,
}

impl BodyRead {
    async fn all(&mut self, body: Body) -> Result<(), Problem> {
        let mut chunks = body.into_data_stream();
        while self.length <= DISCARDED_BODY_BYTES
            && let Some(chunk) = chunks.next().await
        {
            let chunk = chunk.map_err(|_| whole_body("incomplete", "the body ended early"))?;
            self.length += chunk.len();
            if self.length <= BODY_BYTES {
                self.bytes.extend_from_slice(&chunk);
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::body::Bytes;
    use futures_util::stream;
    use hyper::body::{Frame, SizeHint};
    use std::convert::Infallible;
    use std::iter::repeat_n;
    use std::pin::Pin;
    use std::task::{Context, Poll};

    /// A body of which only the length is known.
    struct Announced(u64);

    impl HttpBody for Announced {
        type Data = Bytes;
        type Error = Infallible;

        fn poll_frame(
            self: Pin<&mut Self>,
            _: &mut Context<'_>,
        ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
            Poll::Pending
        }

        fn size_hint(&self) -> SizeHint {
            SizeHint::with_exact(self.0)
        }
    }

    async fn length(request: Request) -> Result<usize, Problem> {
        let (parts, body) = request.into_parts();
        read_in_time(&parts, body).await.map(|it| it.len())
    }

    #[tokio::test]
    async fn a_body_may_have_64_kib_and_not_a_byte_more() {
        let length = async |bytes: usize| {
            let stream = stream::iter(repeat_n(Ok::<_, Infallible>("x"), bytes));
            let streamed = length(Request::new(Body::from_stream(stream))).await;
            let whole = length(Request::new(Body::from(vec![b'x'; bytes]))).await;
            assert_eq!(streamed, whole);
            whole
        };
        assert_eq!(length(BODY_BYTES).await, Ok(BODY_BYTES));
        assert_eq!(length(BODY_BYTES + 1).await, Err(Problem::BodyTooLarge));
        let larger = length(2 * DISCARDED_BODY_BYTES).await;
        assert_eq!(larger, Err(Problem::BodyTooLarge));
    }

    #[tokio::test]
    async fn a_body_that_is_too_large_is_so_however_slowly_it_comes() {
        let too_large = u64::try_from(BODY_BYTES).unwrap() + 1;
        let announced = |length| Request::new(Body::new(Announced(length)));
        let come = stream::iter([Ok::<_, Infallible>(vec![b'x'; BODY_BYTES + 1])]);
        let come = come.chain(stream::pending());
        let (small, large, come) = tokio::join!(
            length(announced(too_large - 1)),
            length(announced(too_large)),
            length(Request::new(Body::from_stream(come))),
        );
        assert_eq!(small, Err(Problem::BodyTooSlow));
        assert_eq!(large, Err(Problem::BodyTooLarge));
        assert_eq!(come, Err(Problem::BodyTooLarge));
    }

    #[tokio::test]
    async fn who_asks_first_is_told_at_once_that_a_body_is_too_large() {
        let mut request = Request::new(Body::new(Announced(u64::MAX)));
        let expectation = "100-Continue".parse().unwrap();
        request.headers_mut().insert(header::EXPECT, expectation);
        let at_once = timeout(BODY_READ_TIMEOUT / 2, length(request)).await;
        assert_eq!(at_once, Ok(Err(Problem::BodyTooLarge)));
    }
}
