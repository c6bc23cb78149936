//! Starts the roles, alone or together, from the settings.

use crate::direct;
use crate::failure::Failure;
use crate::process;
use aggregator::writer::Writer;
use bridge::{DirectLog, KafkaConfig, KafkaLog, Log};
use kafka::Cluster;
use ops::clock::Clock;
use ops::failure::Fatal;
use ops::health::Health;
use ops::metrics::Metrics;
use ops::server::serve_operations;
use ops::settings::Settings;
use ops::shutdown::Shutdown;
use std::net::SocketAddr;
use store::Store;
use tokio::net::TcpListener;
use tokio::task::JoinSet;
use wire::topic::{KafkaTopics, RecordKind};

/// Connections of the aggregator: one writes, one folds, one looks up positions or probes.
const AGGREGATOR_CONNECTIONS: u32 = 3;
/// Connections of the api: as many reads at once; more would only wait in the database.
const API_CONNECTIONS: u32 = 8;
/// The kinds of record that the service takes.
const KINDS: [RecordKind; 1] = [RecordKind::Telemetry];

/// Which roles a process has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Roles {
    /// MQTT to the log.
    pub bridge: bool,
    /// The log to the database.
    pub aggregator: bool,
    /// The database over HTTP.
    pub api: bool,
}

impl Roles {
    /// `wattline serve`.
    pub const ALL: Self = Self {
        bridge: true,
        aggregator: true,
        api: true,
    };
    /// `wattline bridge`.
    pub const BRIDGE: Self = Self {
        bridge: true,
        aggregator: false,
        api: false,
    };
    /// `wattline aggregator`.
    pub const AGGREGATOR: Self = Self {
        bridge: false,
        aggregator: true,
        api: false,
    };
    /// `wattline api`.
    pub const API: Self = Self {
        bridge: false,
        aggregator: false,
        api: true,
    };
}

/// What the roles of one process share.
#[derive(Clone, Default)]
pub struct Shared {
    /// Where to count.
    pub metrics: Metrics,
    /// Where to tell readiness.
    pub health: Health,
    /// Tells everybody to stop.
    pub shutdown: Shutdown,
}

/// Runs the roles until SIGTERM or SIGINT.
pub(crate) fn run(roles: Roles, settings: &Settings) -> Result<(), Failure> {
    process::block_on(async {
        let shared = Shared {
            shutdown: Shutdown::on_signals(),
            ..Shared::default()
        };
        run_until_shutdown(roles, settings, &shared).await
    })
}

/// Runs the roles until `shared.shutdown`; the first that fails stops the others.
///
/// # Errors
/// Settings that cannot be used; a port in use; a failure that no retry mends.
pub async fn run_until_shutdown(
    roles: Roles,
    settings: &Settings,
    shared: &Shared,
) -> Result<(), Failure> {
    let mut tasks = JoinSet::new();
    let started = start(roles, settings, shared, &mut tasks).await;
    let mut outcome = started;
    if outcome.is_err() {
        shared.shutdown.trigger();
    }
    while let Some(ended) = tasks.join_next().await {
        let ended = ended.unwrap_or_else(|error| Err(Fatal(format!("a role broke off: {error}"))));
        if let Err(fatal) = ended {
            shared.shutdown.trigger();
            if outcome.is_ok() {
                outcome = Err(fatal.into());
            }
        }
    }
    outcome
}

type Tasks = JoinSet<Result<(), Fatal>>;

async fn start(
    roles: Roles,
    settings: &Settings,
    shared: &Shared,
    tasks: &mut Tasks,
) -> Result<(), Failure> {
    let operations = listen(settings, "ops_listen").await?;
    let direct = settings.choice("log_mode")? == "direct";
    if direct && roles.bridge != roles.aggregator {
        return Err(settings
            .unacceptable(
                "log_mode",
                "kafka, since direct mode is one process: wattline serve",
            )
            .into());
    }
    if roles.api {
        start_api(settings, shared, tasks).await?;
    }
    if direct && roles.bridge {
        start_direct(settings, shared, tasks)?;
    } else {
        if roles.bridge {
            start_bridge(settings, shared, tasks, Log::Kafka(kafka_log(settings)?))?;
        }
        if roles.aggregator {
            start_aggregator(settings, shared, tasks)?;
        }
    }
    let shared = shared.clone();
    tasks.spawn(async move {
        serve_operations(operations, shared.metrics, shared.health, shared.shutdown)
            .await
            .map_err(|error| Fatal(format!("operations server: {error}")))
    });
    Ok(())
}

async fn listen(settings: &Settings, key: &str) -> Result<TcpListener, Failure> {
    let address: SocketAddr = settings.socket_address(key)?;
    TcpListener::bind(address).await.map_err(|error| {
        Failure::Running(format!(
            "{key} {address}: {error}: stop who uses it, or choose another"
        ))
    })
}

fn start_bridge(
    settings: &Settings,
    shared: &Shared,
    tasks: &mut Tasks,
    log: Log,
) -> Result<(), Failure> {
    let config = bridge::Config {
        mqtt_url: settings.text("mqtt_url")?,
        client_id: settings.text("mqtt_client_id")?,
        share_group: settings.optional_text("mqtt_share_group"),
        receive_maximum: settings.integer("mqtt_receive_maximum")?,
        kinds: KINDS.to_vec(),
    };
    let handles = bridge::Handles {
        metrics: shared.metrics.clone(),
        health: shared.health.clone(),
        clock: Clock::system(),
    };
    tasks.spawn(bridge::run(config, log, handles, shared.shutdown.clone()));
    Ok(())
}

fn cluster(settings: &Settings) -> Result<Cluster, Failure> {
    Ok(Cluster {
        brokers: settings.text("kafka_brokers")?,
        options: settings.pairs("kafka_options")?,
    })
}

fn kafka_log(settings: &Settings) -> Result<KafkaLog, Failure> {
    let config = KafkaConfig {
        cluster: cluster(settings)?,
        topics: KafkaTopics::new(&settings.text("kafka_topic_prefix")?),
        partitions: settings.integer("kafka_partitions")?,
        receive_maximum: settings.integer("mqtt_receive_maximum")?,
    };
    KafkaLog::new(config).map_err(|wrong| {
        settings
            .unacceptable(
                "kafka_options",
                format!("settings that librdkafka takes ({wrong})"),
            )
            .into()
    })
}

fn aggregator_handles(shared: &Shared) -> aggregator::Handles {
    aggregator::Handles {
        metrics: shared.metrics.clone(),
        health: shared.health.clone(),
        clock: Clock::system(),
    }
}

fn start_aggregator(
    settings: &Settings,
    shared: &Shared,
    tasks: &mut Tasks,
) -> Result<(), Failure> {
    let config = aggregator::Config {
        cluster: cluster(settings)?,
        topics: KafkaTopics::new(&settings.text("kafka_topic_prefix")?),
        partitions: settings.integer("kafka_partitions")?,
        group: settings.text("kafka_group")?,
        raw_retention: settings.duration("raw_retention")?,
    };
    let store = Store::open(&settings.text("database_url")?, AGGREGATOR_CONNECTIONS)?;
    tasks.spawn(aggregator::run(
        config,
        store,
        aggregator_handles(shared),
        shared.shutdown.clone(),
    ));
    Ok(())
}

/// The bridge and the aggregator's writer with a channel in place of Kafka.
fn start_direct(settings: &Settings, shared: &Shared, tasks: &mut Tasks) -> Result<(), Failure> {
    let store = Store::open(&settings.text("database_url")?, AGGREGATOR_CONNECTIONS)?;
    let handles = aggregator_handles(shared);
    let writer = Writer::new(store.clone(), settings.duration("raw_retention")?, &handles);
    let receive_maximum: usize = settings.integer("mqtt_receive_maximum")?;
    let (sender, handovers) = tokio::sync::mpsc::channel(receive_maximum);
    start_bridge(settings, shared, tasks, Log::Direct(DirectLog::new(sender)))?;
    let shutdown = shared.shutdown.clone();
    tasks.spawn(async move {
        direct::run(handovers, writer, shutdown).await;
        Ok(())
    });
    let shutdown = shared.shutdown.clone();
    tasks.spawn(async move {
        aggregator::fold::run(&store, &handles, &shutdown).await;
        Ok(())
    });
    Ok(())
}

async fn start_api(settings: &Settings, shared: &Shared, tasks: &mut Tasks) -> Result<(), Failure> {
    let path = settings.path("token_key_file")?;
    let keys = api::token::Keys::read(&path).map_err(|error| {
        settings.unacceptable(
            "token_key_file",
            format!("a key file, as `wattline admin token new-key` makes one ({error})"),
        )
    })?;
    let listener = listen(settings, "http_listen").await?;
    let url = settings.text("database_url")?;
    let store = Store::open_with(&url, API_CONNECTIONS, api::REQUEST_TIMEOUT)?;
    let handles = api::Handles {
        metrics: shared.metrics.clone(),
        health: shared.health.clone(),
        clock: Clock::system(),
    };
    let config = api::Config { keys };
    tasks.spawn(api::run(
        config,
        listener,
        store,
        handles,
        shared.shutdown.clone(),
    ));
    Ok(())
}
