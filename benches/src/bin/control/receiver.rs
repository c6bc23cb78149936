//! All controllers in one: a subscriber to every desired document.

use benches::Outcome;
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use testkit::{DesiredDocuments, ReceivedDocument};
use tokio::sync::oneshot;

/// It has a thread of its own, so that a document's time does not wait for the load.
pub(crate) struct Receiver {
    documents: Arc<DesiredDocuments>,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Receiver {
    /// Returns once the broker has confirmed the subscription.
    pub(crate) async fn subscribe(mqtt_port: u16) -> Outcome<Self> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()?;
        let (stop, stopped) = oneshot::channel::<()>();
        let (answer, subscribed) = oneshot::channel();
        let receive = async move {
            let documents = Arc::new(DesiredDocuments::subscribe(mqtt_port).await);
            if answer.send(Arc::clone(&documents)).is_ok() {
                // Either way: told to, or nobody is there any more.
                stopped.await.ok();
            }
        };
        let thread = thread::Builder::new()
            .name("receiver".to_owned())
            .spawn(move || runtime.block_on(receive))?;
        Ok(Self {
            documents: subscribed.await?,
            stop: Some(stop),
            thread: Some(thread),
        })
    }

    /// What has come since this was asked last.
    pub(crate) fn take(&self) -> Vec<ReceivedDocument> {
        self.documents.take()
    }
}

impl Drop for Receiver {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            thread.join().ok();
        }
    }
}
