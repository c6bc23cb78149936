//! A connection whose other end is waited for only so long.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Sleep, sleep};

/// What a connection is doing; clones share it.
#[derive(Clone, Debug, Default)]
pub(super) struct Activity(Arc<Flags>);

#[derive(Debug, Default)]
struct Flags {
    working: AtomicBool,
    writing: AtomicBool,
}

impl Activity {
    /// Tells whether a request is being worked on.
    pub(super) fn working(&self, working: bool) {
        self.0.working.store(working, Ordering::Relaxed);
    }

    fn writing(&self, writing: bool) {
        self.0.writing.store(writing, Ordering::Relaxed);
    }

    /// Whether a request is worked on, or an answer is not handed over yet.
    pub(super) fn is_busy(&self) -> bool {
        self.0.working.load(Ordering::Relaxed) || self.0.writing.load(Ordering::Relaxed)
    }
}

/// A stream that fails when what was written to it is not taken in time. The time runs from the first
/// wait until everything is handed over, so that reading a byte now and then does not prolong it.
pub(super) struct Patient<S> {
    stream: S,
    activity: Activity,
    patience: Duration,
    /// Runs while the other end is waited for.
    deadline: Option<Pin<Box<Sleep>>>,
}

impl<S> Patient<S> {
    pub(super) fn new(stream: S, activity: Activity, patience: Duration) -> Self {
        Self {
            stream,
            activity,
            patience,
            deadline: None,
        }
    }

    /// What came of writing, or a failure when it was waited for too long.
    fn bounded<T>(
        &mut self,
        polled: Poll<io::Result<T>>,
        context: &mut Context<'_>,
    ) -> Poll<io::Result<T>> {
        if polled.is_pending() {
            let patience = self.patience;
            let deadline = self
                .deadline
                .get_or_insert_with(|| Box::pin(sleep(patience)));
            if deadline.as_mut().poll(context).is_ready() {
                let cause = "the other end does not read its answer";
                return Poll::Ready(Err(io::Error::new(io::ErrorKind::TimedOut, cause)));
            }
        }
        polled
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Patient<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Patient<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.activity.writing(true);
        let polled = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.bounded(polled, context)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.activity.writing(true);
        let polled = Pin::new(&mut self.stream).poll_write_vectored(context, slices);
        self.bounded(polled, context)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let polled = Pin::new(&mut self.stream).poll_flush(context);
        if polled.is_ready() {
            self.deadline = None;
            self.activity.writing(false);
        }
        self.bounded(polled, context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let polled = Pin::new(&mut self.stream).poll_shutdown(context);
        self.bounded(polled, context)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Instant;
    use tokio::io::{AsyncReadExt, AsyncWriteExt, duplex};

    const PATIENCE: Duration = Duration::from_millis(600);

    #[tokio::test]
    async fn what_is_not_read_in_time_fails() {
        let (_reader, stream) = duplex(10);
        let activity = Activity::default();
        let mut patient = Patient::new(stream, activity.clone(), PATIENCE);
        let begun = Instant::now();
        let failed = patient.write_all(&[0; 100]).await.unwrap_err();
        assert_eq!(failed.kind(), io::ErrorKind::TimedOut);
        assert!(begun.elapsed() >= PATIENCE);
        assert!(activity.is_busy(), "an answer was not handed over");
    }

    #[tokio::test]
    async fn a_byte_now_and_then_does_not_prolong_the_time() {
        let (mut reader, stream) = duplex(10);
        let mut patient = Patient::new(stream, Activity::default(), PATIENCE);
        let read = async {
            loop {
                sleep(PATIENCE / 10).await;
                reader.read_u8().await.unwrap();
            }
        };
        tokio::select! {
            written = patient.write_all(&[0; 1_000]) => assert!(written.is_err()),
            () = read => {}
        }
    }

    #[tokio::test]
    async fn every_answer_that_is_read_has_its_own_time() {
        let (mut reader, stream) = duplex(10);
        let activity = Activity::default();
        let mut patient = Patient::new(stream, activity.clone(), PATIENCE);
        let begun = Instant::now();
        while begun.elapsed() < 2 * PATIENCE {
            let write = async {
                patient.write_all(&[0; 15]).await.unwrap();
                patient.flush().await.unwrap();
            };
            let read = async {
                sleep(PATIENCE / 6).await;
                reader.read_exact(&mut [0; 15]).await.unwrap();
            };
            tokio::join!(write, read);
            assert!(!activity.is_busy(), "everything is handed over");
        }
    }
}
