//! The one table of metrics: name, help text, label.
//!
//! Names are `wattline_<role>_<noun>_<unit>`, counters end in `_total`. Labels are bounded: codes,
//! never ids or texts.

/// What is counted and only grows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "each variant's row holds its help text")]
pub enum Counter {
    BridgeReceivedMessages,
    BridgeForwardedMessages,
    BridgeDeadLetteredMessages,
    BridgeAbandonedMessages,
    BridgeReconnects,
    BridgeDeliveryFailures,
    BridgeProducerRetries,
    AggregatorConsumedMessages,
    AggregatorStoredMessages,
    AggregatorDuplicateMessages,
    AggregatorConflictMessages,
    AggregatorDeadLetteredMessages,
    AggregatorImportedDeadLetters,
    AggregatorRetries,
    AggregatorDroppedChunks,
    AggregatorDroppedRows,
    AggregatorSetAsideIntervals,
    ControlTransitions,
    ControlReports,
    ControlPublishedDocuments,
    ControlRetries,
    ApiRequests,
    ApiRateLimitedRequests,
    ApiRefusedLogins,
    ApiRefusedConnections,
}

/// What is measured and goes up and down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "each variant's row holds its help text")]
pub enum Gauge {
    BridgeInFlightMessages,
    BridgeFloodingBuildings,
    AggregatorLagMessages,
    AggregatorStretchMessages,
    AggregatorRawHorizonSeconds,
    AggregatorRetentionOverdueSeconds,
    ControlUnreadableStates,
    BridgeOldestUnacknowledgedSeconds,
    AggregatorLagSeconds,
    AggregatorWaitingMarks,
    AggregatorOldestMarkSeconds,
    ControlOutboxDocuments,
    ControlOldestDocumentSeconds,
    ApiConnections,
    Ready,
    ConditionReady,
    StartTimeSeconds,
    BuildInfo,
}

/// What has a distribution.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "each variant's row holds its help text")]
pub enum Histogram {
    AggregatorBatchMessages,
    AggregatorBatchSeconds,
    ControlLateSeconds,
    ControlPublicationSeconds,
    ApiRequestSeconds,
}

/// One metric's line in the table.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Row {
    /// The name in a scrape.
    pub name: &'static str,
    /// The help text in a scrape.
    pub help: &'static str,
    /// What tells its series apart, when there are several.
    pub label: Option<Label>,
    /// Upper ends of a histogram's buckets, in the name's unit; empty for anything else.
    pub buckets: &'static [f64],
}

/// A label with every value that it can have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Label {
    /// The label's name.
    pub key: &'static str,
    /// All of its values; none where the series are made as they are set, of names in the code.
    pub values: &'static [&'static str],
}

/// The reasons for which a message is refused.
const REASON: Label = Label {
    key: "reason",
    values: &[
        "unknown_topic",
        "too_large",
        "not_json",
        "schema",
        "out_of_range",
        "time_in_future",
        "unknown_building",
        "too_old",
        "unknown_sensor",
        "unknown_action",
        "not_storable",
        "over_limit",
    ],
};

/// What a process may need to do its job. Only the conditions that a process has are in its scrape, so
/// that none looks broken that is nobody's.
const CONDITION: Label = Label {
    key: "condition",
    values: &[],
};

/// The version of the binary; in the scrape of a process that serves one.
const VERSION: Label = Label {
    key: "version",
    values: &[],
};

/// Classes of HTTP status codes; 1xx and 3xx included, so that every answer has its place.
const STATUS: Label = Label {
    key: "status",
    values: &["1xx", "2xx", "3xx", "4xx", "5xx"],
};

/// Why a login is refused.
const LOGIN_REFUSAL: Label = Label {
    key: "reason",
    values: &["wrong", "too_many_failures", "too_many_outstanding"],
};

/// From one message to more than the largest batch.
const MESSAGES: &[f64] = &[
    1.0, 3.0, 10.0, 30.0, 100.0, 300.0, 1_000.0, 3_000.0, 10_000.0, 30_000.0,
];

/// From an indexed read to the longest wait that a client bears.
const SECONDS: &[f64] = &[
    0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0,
];

impl Counter {
    /// All of them, in their order.
    pub const ALL: [Self; 25] = [
        Self::BridgeReceivedMessages,
        Self::BridgeForwardedMessages,
        Self::BridgeDeadLetteredMessages,
        Self::BridgeAbandonedMessages,
        Self::BridgeReconnects,
        Self::BridgeDeliveryFailures,
        Self::BridgeProducerRetries,
        Self::AggregatorConsumedMessages,
        Self::AggregatorStoredMessages,
        Self::AggregatorDuplicateMessages,
        Self::AggregatorConflictMessages,
        Self::AggregatorDeadLetteredMessages,
        Self::AggregatorImportedDeadLetters,
        Self::AggregatorRetries,
        Self::AggregatorDroppedChunks,
        Self::AggregatorDroppedRows,
        Self::AggregatorSetAsideIntervals,
        Self::ControlTransitions,
        Self::ControlReports,
        Self::ControlPublishedDocuments,
        Self::ControlRetries,
        Self::ApiRequests,
        Self::ApiRateLimitedRequests,
        Self::ApiRefusedLogins,
        Self::ApiRefusedConnections,
    ];

    /// Its line in the table.
    #[must_use]
    #[rustfmt::skip]
    pub const fn row(self) -> Row {
        match self {
            Self::BridgeReceivedMessages => row("wattline_bridge_received_messages_total",
                "Messages that the broker delivered, repetitions included."),
            Self::BridgeForwardedMessages => row("wattline_bridge_forwarded_messages_total",
                "Messages that are durable behind the bridge."),
            Self::BridgeDeadLetteredMessages => labelled("wattline_bridge_dead_lettered_messages_total",
                "Messages that the bridge refused, by reason, durable as dead letters.", REASON),
            Self::BridgeAbandonedMessages => row("wattline_bridge_abandoned_messages_total",
                "Messages in flight at a reconnect: the broker delivers them again."),
            Self::BridgeReconnects => row("wattline_bridge_reconnects_total",
                "Connections to the broker that were lost."),
            Self::BridgeDeliveryFailures => row("wattline_bridge_delivery_failures_total",
                "Attempts to hand a message over that failed and are repeated."),
            Self::BridgeProducerRetries => row("wattline_bridge_producer_retries_total",
                "Requests to Kafka that its client repeated by itself."),
            Self::AggregatorConsumedMessages => row("wattline_aggregator_consumed_messages_total",
                "Messages whose fate is committed: stored, duplicate or dead-lettered."),
            Self::AggregatorStoredMessages => row("wattline_aggregator_stored_messages_total",
                "Messages that are in the database."),
            Self::AggregatorDuplicateMessages => row("wattline_aggregator_duplicate_messages_total",
                "Messages whose identity was in the database already."),
            Self::AggregatorConflictMessages => row("wattline_aggregator_conflict_messages_total",
                "Duplicates whose content differs from what is stored."),
            Self::AggregatorDeadLetteredMessages => labelled("wattline_aggregator_dead_lettered_messages_total",
                "Messages that the aggregator refused, by reason.", REASON),
            Self::AggregatorImportedDeadLetters => row("wattline_aggregator_imported_dead_letters_total",
                "Dead letters of the bridge that are in the database."),
            Self::AggregatorRetries => row("wattline_aggregator_retries_total",
                "Batches that had to be tried again."),
            Self::AggregatorDroppedChunks => row("wattline_aggregator_dropped_chunks_total",
                "Chunks or partitions of raw records that were dropped since they are kept no longer."),
            Self::AggregatorDroppedRows => row("wattline_aggregator_dropped_rows_total",
                "Raw records that were deleted one by one since they are kept no longer."),
            Self::AggregatorSetAsideIntervals => row("wattline_aggregator_set_aside_intervals_total",
                "Minutes, quarters and days that could not be folded and are tried again later."),
            Self::ControlTransitions => row("wattline_control_transitions_total",
                "Times that a building's control state was looked at because something was due."),
            Self::ControlReports => row("wattline_control_reports_total",
                "Reports of controllers that became the fate of actions."),
            Self::ControlPublishedDocuments => row("wattline_control_published_documents_total",
                "Desired documents that the broker confirmed, repetitions included."),
            Self::ControlRetries => row("wattline_control_retries_total",
                "Steps of control that failed and are repeated, and connections to the broker that were lost."),
            Self::ApiRequests => labelled("wattline_api_requests_total",
                "Requests that were answered, by class of status.", STATUS),
            Self::ApiRateLimitedRequests => row("wattline_api_rate_limited_requests_total",
                "Requests that were refused because their user's hour was spent."),
            Self::ApiRefusedLogins => labelled("wattline_api_refused_logins_total",
                "Logins that were refused, by reason.", LOGIN_REFUSAL),
            Self::ApiRefusedConnections => row("wattline_api_refused_connections_total",
                "Connections that were closed at once: their address had as many as one may have."),
        }
    }
}

impl Gauge {
    /// All of them, in their order.
    pub const ALL: [Self; 18] = [
        Self::BridgeInFlightMessages,
        Self::BridgeFloodingBuildings,
        Self::AggregatorLagMessages,
        Self::AggregatorStretchMessages,
        Self::AggregatorRawHorizonSeconds,
        Self::AggregatorRetentionOverdueSeconds,
        Self::ControlUnreadableStates,
        Self::BridgeOldestUnacknowledgedSeconds,
        Self::AggregatorLagSeconds,
        Self::AggregatorWaitingMarks,
        Self::AggregatorOldestMarkSeconds,
        Self::ControlOutboxDocuments,
        Self::ControlOldestDocumentSeconds,
        Self::ApiConnections,
        Self::Ready,
        Self::ConditionReady,
        Self::StartTimeSeconds,
        Self::BuildInfo,
    ];

    /// Its line in the table.
    #[must_use]
    #[rustfmt::skip]
    pub const fn row(self) -> Row {
        match self {
            Self::BridgeInFlightMessages => row("wattline_bridge_in_flight_messages",
                "Messages that were received and are not durable yet."),
            Self::BridgeFloodingBuildings => row("wattline_bridge_flooding_buildings",
                "Buildings that sent more than one may within the last minute."),
            Self::AggregatorLagMessages => row("wattline_aggregator_lag_messages",
                "Messages that wait in the log for the aggregator."),
            Self::AggregatorStretchMessages => row("wattline_aggregator_stretch_messages",
                "Those of them that are read besides what comes in now: after an outage, or again."),
            Self::AggregatorRawHorizonSeconds => row("wattline_aggregator_raw_horizon_seconds",
                "Moment (Unix time) before which raw records are final and dropped."),
            Self::AggregatorRetentionOverdueSeconds => row("wattline_aggregator_retention_overdue_seconds",
                "Seconds by which raw records are kept longer than they should be."),
            Self::ControlUnreadableStates => row("wattline_control_unreadable_states",
                "Buildings whose control state this process cannot read: nothing is done for them."),
            Self::BridgeOldestUnacknowledgedSeconds => row("wattline_bridge_oldest_unacknowledged_seconds",
                "Seconds since the oldest message in flight was received; 0 without one."),
            Self::AggregatorLagSeconds => row("wattline_aggregator_lag_seconds",
                "Seconds since the oldest message that waits in the log for the aggregator was received; 0 without one."),
            Self::AggregatorWaitingMarks => row("wattline_aggregator_waiting_marks",
                "Ended minutes, quarters and days of the whole database that wait to be folded; at most 100,000 are counted."),
            Self::AggregatorOldestMarkSeconds => row("wattline_aggregator_oldest_mark_seconds",
                "Seconds for which an ended minute, quarter or day has been seen to wait for being folded; 0 without one."),
            Self::ControlOutboxDocuments => row("wattline_control_outbox_documents",
                "Entries of the whole outbox: desired documents that are to be published."),
            Self::ControlOldestDocumentSeconds => row("wattline_control_oldest_document_seconds",
                "Seconds for which the oldest entry of the outbox has been seen to wait; 0 without one."),
            Self::ApiConnections => row("wattline_api_connections",
                "Connections of clients that are open."),
            Self::Ready => row("wattline_ready",
                "1 when the process can do its job now, otherwise 0."),
            Self::ConditionReady => labelled("wattline_condition_ready",
                "1 when this condition of the process's readiness holds, otherwise 0.", CONDITION),
            Self::StartTimeSeconds => row("wattline_start_time_seconds",
                "When the process started, in seconds since the epoch."),
            Self::BuildInfo => labelled("wattline_build_info",
                "1, with the version of the binary.", VERSION),
        }
    }
}

impl Histogram {
    /// All of them, in their order.
    pub const ALL: [Self; 5] = [
        Self::AggregatorBatchMessages,
        Self::AggregatorBatchSeconds,
        Self::ControlLateSeconds,
        Self::ControlPublicationSeconds,
        Self::ApiRequestSeconds,
    ];

    /// Its line in the table.
    #[must_use]
    #[rustfmt::skip]
    pub const fn row(self) -> Row {
        match self {
            Self::AggregatorBatchMessages => spread("wattline_aggregator_batch_messages",
                "Messages in a committed batch.", MESSAGES),
            Self::AggregatorBatchSeconds => spread("wattline_aggregator_batch_seconds",
                "Seconds from a batch's first message to its commit.", SECONDS),
            Self::ControlLateSeconds => spread("wattline_control_late_seconds",
                "Seconds from when something was due to its execution.", SECONDS),
            Self::ControlPublicationSeconds => spread("wattline_control_publication_seconds",
                "Seconds from a change of what is desired to its confirmation by the broker.", SECONDS),
            Self::ApiRequestSeconds => spread("wattline_api_request_seconds",
                "Seconds from a request's arrival to its answer.", SECONDS),
        }
    }
}

const fn row(name: &'static str, help: &'static str) -> Row {
    Row {
        name,
        help,
        label: None,
        buckets: &[],
    }
}

const fn labelled(name: &'static str, help: &'static str, label: Label) -> Row {
    Row {
        label: Some(label),
        ..row(name, help)
    }
}

const fn spread(name: &'static str, help: &'static str, buckets: &'static [f64]) -> Row {
    Row {
        buckets,
        ..row(name, help)
    }
}
