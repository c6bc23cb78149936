//! Publishes what stands in the outbox.

use crate::config::{Config, Handles, IN_FLIGHT, KEEP_ALIVE, MAY_BE_LOST, SESSION_EXPIRY_SECONDS};
use crate::in_flight::InFlight;
use crate::session::{self, Ended};
use domain::time::Timestamp;
use mqtt::Broker;
use ops::failure::Fatal;
use ops::health::Condition;
use ops::metrics::{Counter, Histogram};
use ops::retry::Backoff;
use ops::shutdown::Shutdown;
use rumqttc::v5::MqttOptions;
use std::sync::Arc;
use std::time::Duration;
use store::{Publication, Publishing, Store, StoreFailure, Unconfirmed};
use tokio::sync::Notify;
use tokio::time::sleep;
use uuid::Uuid;
use wire::desired::{self, Document};

/// What is published, and what must be published again.
pub(crate) struct Publisher {
    pub(crate) options: MqttOptions,
    store: Store,
    handles: Handles,
    pub(crate) wakeup: Arc<Notify>,
    broker: Condition,
    outbox: Condition,
    between_connections: Backoff,
    between_claims: Backoff,
    /// Documents published since then are to be published again: the broker may have lost them.
    again_since: Option<Timestamp>,
    /// Buildings for which somebody else may have published between our document and its confirmation.
    uncertain: Vec<Uuid>,
}

impl Publisher {
    pub(crate) fn new(
        config: &Config,
        store: Store,
        handles: Handles,
        wakeup: Arc<Notify>,
    ) -> Result<Self, Fatal> {
        let broker = Broker::parse(&config.mqtt_url).map_err(|error| Fatal(error.to_string()))?;
        let mut options = broker.options(&config.client_id);
        options
            .set_clean_start(false)
            .set_session_expiry_interval(Some(SESSION_EXPIRY_SECONDS))
            .set_keep_alive(KEEP_ALIVE)
            .set_outgoing_inflight_upper_limit(IN_FLIGHT);
        Ok(Self {
            options,
            store,
            wakeup,
            broker: handles.health.condition("mqtt"),
            outbox: handles.health.condition("outbox"),
            handles,
            between_connections: Backoff::default(),
            between_claims: Backoff::default(),
            again_since: None,
            uncertain: Vec::new(),
        })
    }

    /// Publishes until `shutdown`, over one connection after the other.
    pub(crate) async fn run(mut self, shutdown: &Shutdown) {
        loop {
            match session::run(&mut self, shutdown).await {
                Ended::Stopped => return,
                Ended::Lost(cause) => self.broker.not_ready(cause),
            }
            tokio::select! {
                () = sleep(self.between_connections.next_wait()) => {}
                () = shutdown.requested() => return,
            }
        }
    }

    /// The broker is there; what it may have lost is to be published again.
    pub(crate) fn connected(&mut self, session_present: bool) {
        self.broker.ready();
        self.between_connections.reset();
        let since = if session_present {
            self.handles.now().minus(MAY_BE_LOST)
        } else {
            Timestamp::from_seconds(0)
        };
        self.again_since = Some(self.again_since.map_or(since, |before| before.min(since)));
    }

    /// Takes what is to be published; when the database is away, how long to wait.
    pub(crate) async fn claim(&mut self) -> Result<Option<InFlight>, Duration> {
        match self.try_claim().await {
            Ok(claimed) => {
                self.outbox.ready();
                self.between_claims.reset();
                Ok(claimed.map(InFlight::new))
            }
            Err(failure) => {
                self.outbox.not_ready(failure.to_string());
                Err(self.between_claims.next_wait())
            }
        }
    }

    async fn try_claim(&mut self) -> Result<Option<Publishing>, StoreFailure> {
        if !self.uncertain.is_empty() {
            self.store.publish_again(&self.uncertain).await?;
            self.uncertain.clear();
        }
        if let Some(since) = self.again_since {
            self.store.publish_again_since(since).await?;
            self.again_since = None;
        }
        self.store.begin_publishing(self.handles.now()).await
    }

    /// Notes what the broker has confirmed.
    pub(crate) async fn confirm(&mut self, in_flight: InFlight) {
        let now = self.handles.now();
        let (publishing, confirmed) = in_flight.into_parts();
        let documents = publishing.publications().iter().zip(&confirmed);
        let taken = documents.filter(|(_, confirmed)| **confirmed);
        let new: Vec<Timestamp> = taken
            .filter(|(publication, _)| !publication.again)
            .filter_map(|(publication, _)| Some(publication.document.as_ref()?.0))
            .collect();
        let published = confirmed.iter().filter(|confirmed| **confirmed).count();
        match publishing.confirm(&confirmed, now).await {
            Ok(()) => {
                self.handles.metrics.update(|it| {
                    it.add(Counter::ControlPublishedDocuments, published as u64);
                    for issued_at in new {
                        let micros = now.micros_since(issued_at).unsigned_abs();
                        let seconds = Duration::from_micros(micros).as_secs_f64();
                        it.observe(Histogram::ControlPublicationSeconds, seconds);
                    }
                });
            }
            Err(Unconfirmed { buildings, failure }) => {
                self.outbox.not_ready(failure.to_string());
                self.uncertain.extend(buildings);
            }
        }
    }
}

/// The bytes of a publication; none where the building is no more.
pub(crate) fn payload(publication: &Publication) -> Vec<u8> {
    let Some((issued_at, desired)) = &publication.document else {
        return Vec::new();
    };
    desired::encode(&Document {
        revision: publication.revision,
        issued_at: *issued_at,
        desired: desired.clone(),
    })
}
