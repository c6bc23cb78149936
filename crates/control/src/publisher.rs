//! Publishes what stands in the outbox.

use crate::config::{
    Config, DATABASE_PATIENCE, Handles, IN_FLIGHT, KEEP_ALIVE, MAY_BE_LOST, SESSION_EXPIRY_SECONDS,
    STABLE_AFTER,
};
use crate::in_flight::InFlight;
use crate::refusals::Refusals;
use crate::session::{self, Ended};
use domain::time::Timestamp;
use mqtt::{Broker, Finding, Needs, Offer};
use ops::failure::Fatal;
use ops::health::Condition;
use ops::metrics::{Counter, Histogram};
use ops::retry::Backoff;
use ops::shutdown::Shutdown;
use rumqttc::v5::MqttOptions;
use rumqttc::v5::mqttbytes::v5::ConnAck;
use std::sync::Arc;
use std::time::Duration;
use store::{Publication, Publishing, Store, StoreFailure, Unconfirmed};
use tokio::sync::Notify;
use tokio::time::{Instant, sleep, timeout};
use uuid::Uuid;
use wire::desired::{self, Document};

/// What is published, and what must be published again.
pub(crate) struct Publisher {
    /// The broker in words.
    name: String,
    /// Whether what the broker offers was told.
    judged: bool,
    pub(crate) options: MqttOptions,
    store: Store,
    handles: Handles,
    pub(crate) wakeup: Arc<Notify>,
    broker: Condition,
    outbox: Condition,
    refusals: Refusals,
    between_connections: Backoff,
    connected_at: Option<Instant>,
    between_claims: Backoff,
    /// Documents that are taken at once: fewer after a connection was lost with some on their way, so that a slow
    /// way, or one that the broker cannot take, does not hold up the others for ever.
    at_once: u16,
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
            refusals: Refusals::new(broker.name(), handles.health.condition("outbox")),
            name: broker.name(),
            judged: false,
            options,
            store,
            wakeup,
            broker: handles.health.condition("mqtt"),
            outbox: handles.health.condition("outbox"),
            handles,
            between_connections: Backoff::default(),
            connected_at: None,
            between_claims: Backoff::default(),
            at_once: IN_FLIGHT,
            again_since: None,
            uncertain: Vec::new(),
        })
    }

    /// Publishes until `shutdown`, over one connection after the other.
    pub(crate) async fn run(mut self, shutdown: &Shutdown) {
        loop {
            match session::run(&mut self, shutdown).await {
                Ended::Stopped => return,
                Ended::Lost(cause) => {
                    self.silent(&cause);
                    self.count_retry();
                }
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
        self.connected_at = Some(Instant::now());
        let since = if session_present {
            self.handles.now().minus(MAY_BE_LOST)
        } else {
            Timestamp::from_seconds(0)
        };
        self.again_since = Some(self.again_since.map_or(since, |before| before.min(since)));
    }

    /// Tells the log, once, of limits that the broker has, and what they cost.
    pub(crate) fn judge(&mut self, answer: &ConnAck) {
        let needs = Needs {
            shared_subscriptions: false,
            publishes: true,
        };
        if std::mem::replace(&mut self.judged, true) {
            return;
        }
        for finding in Offer::from(answer).judge(needs) {
            match finding {
                Finding::Loses(text) => tracing::error!("{}: {text}", self.name),
                Finding::Weaker(text) => tracing::warn!("{}: {text}", self.name),
            }
        }
    }

    /// The broker answers.
    pub(crate) fn answering(&self) {
        self.broker.ready();
    }

    /// The broker cannot be worked with.
    pub(crate) fn silent(&self, cause: &str) {
        self.broker.not_ready(format!("{}: {cause}", self.name));
    }

    fn count_retry(&self) {
        let metrics = &self.handles.metrics;
        metrics.update(|it| it.add(Counter::ControlRetries, 1));
    }

    /// Takes what is to be published; when the database is away, how long to wait.
    pub(crate) async fn claim(&mut self) -> Result<Option<InFlight>, Duration> {
        let claimed = timeout(DATABASE_PATIENCE, self.try_claim()).await;
        match claimed.unwrap_or_else(|_| Err(hung())) {
            Ok(claimed) => {
                self.outbox.ready();
                self.between_claims.reset();
                if claimed.is_none() {
                    self.settled();
                }
                Ok(claimed.map(InFlight::new))
            }
            Err(failure) => {
                self.outbox.not_ready(self.store.tell(&failure));
                self.count_retry();
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
        let now = self.handles.now();
        self.store.begin_publishing(self.at_once, now).await
    }

    /// The connection does its work. One that has only just begun proves nothing: two processes with one client id
    /// throw each other out.
    fn settled(&mut self) {
        let lasts = self
            .connected_at
            .is_some_and(|at| at.elapsed() > STABLE_AFTER);
        if lasts {
            self.between_connections.reset();
        }
    }

    /// The connection was lost with documents on their way: what was answered counts.
    pub(crate) async fn lose(&mut self, mut in_flight: InFlight) {
        if self.at_once == 1 {
            in_flight.blame_the_only_one();
        }
        self.at_once = (self.at_once / 2).max(1);
        self.note(in_flight).await;
    }

    /// The broker has answered to all of them.
    pub(crate) async fn confirm(&mut self, in_flight: InFlight) {
        self.at_once = self.at_once.saturating_mul(2).min(IN_FLIGHT);
        self.settled();
        self.note(in_flight).await;
    }

    async fn note(&mut self, in_flight: InFlight) {
        let now = self.handles.now();
        for (building, why) in in_flight.refusals() {
            self.refusals.refused(building, why);
        }
        let (publishing, answers) = in_flight.into_parts();
        let documents = publishing.publications().iter().zip(&answers);
        let taken: Vec<_> = documents
            .filter(|(_, answer)| **answer == Some(true))
            .map(|(publication, _)| publication)
            .collect();
        let published = taken.len() as u64;
        for publication in &taken {
            self.refusals.taken(publication.building);
        }
        let new = taken.into_iter().filter(|publication| !publication.again);
        let new = new.filter_map(|publication| Some(publication.document.as_ref()?.0));
        let new: Vec<Timestamp> = new.collect();
        let buildings = publishing.publications().iter().map(|it| it.building);
        let buildings: Vec<Uuid> = buildings.collect();
        let noted = timeout(DATABASE_PATIENCE, publishing.confirm(&answers, now)).await;
        let noted = noted.unwrap_or_else(|_| {
            Err(Unconfirmed {
                buildings,
                failure: hung(),
            })
        });
        match noted {
            Ok(()) => self.handles.metrics.update(|it| {
                it.add(Counter::ControlPublishedDocuments, published);
                for issued_at in new {
                    let micros = now.micros_since(issued_at).unsigned_abs();
                    let seconds = Duration::from_micros(micros).as_secs_f64();
                    it.observe(Histogram::ControlPublicationSeconds, seconds);
                }
            }),
            Err(Unconfirmed { buildings, failure }) => {
                self.outbox.not_ready(self.store.tell(&failure));
                self.count_retry();
                self.uncertain.extend(buildings);
            }
        }
    }
}

/// The database has taken a statement and says nothing.
pub(crate) fn hung() -> StoreFailure {
    let seconds = DATABASE_PATIENCE.as_secs();
    StoreFailure::Transient(format!("database: no answer within {seconds} s"))
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
