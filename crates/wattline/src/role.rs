//! Starts the roles, alone or together, from the settings.

use crate::direct;
use crate::failure::Failure;
use crate::{https, process};
use aggregator::writer::Writer;
use bridge::{DirectLog, KafkaConfig, KafkaLog, Log};
use kafka::Cluster;
use ops::clock::Clock;
use ops::failure::Fatal;
use ops::health::Health;
use ops::metrics::Metrics;
use ops::server::serve_operations;
use ops::settings::Settings;
use ops::shutdown::{GRACE, Shutdown};
use std::net::SocketAddr;
use std::time::Duration;
use store::{STATEMENT_TIMEOUT, Store};
use tokio::net::TcpListener;
use tokio::task::{JoinError, JoinSet};
use wire::topic::{KafkaTopics, RecordKind};

/// Connections of the aggregator: one writes, one folds, one looks up positions or probes.
const AGGREGATOR_CONNECTIONS: u32 = 3;
/// Connections of the api: as many reads at once; more would only wait in the database.
const API_CONNECTIONS: u32 = 8;
/// Kafka's topic names have at most 249 characters, and ours add to the prefix.
const LONGEST_PREFIX: usize = 200;

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
    while let Some(ended) = join_next(&mut tasks, &shared.shutdown).await {
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

/// The next role that ends; none when all have, or when a server that hangs holds one up longer than
/// a stop may take.
async fn join_next(
    tasks: &mut Tasks,
    shutdown: &Shutdown,
) -> Option<Result<Result<(), Fatal>, JoinError>> {
    let overdue = async {
        shutdown.requested().await;
        tokio::time::sleep(GRACE).await;
    };
    tokio::select! {
        ended = tasks.join_next() => ended,
        () = overdue => {
            tracing::warn!("a server hangs: what is in flight is left to be done again");
            None
        }
    }
}

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
    let share_group = settings.optional_text("mqtt_share_group");
    if share_group
        .as_ref()
        .is_some_and(|it| it.contains(['/', '+', '#']))
    {
        let expected = "a name without / + and #";
        return Err(settings.unacceptable("mqtt_share_group", expected).into());
    }
    let config = bridge::Config {
        mqtt_url: settings.text("mqtt_url")?,
        client_id: settings.text("mqtt_client_id")?,
        share_group,
        receive_maximum: settings.integer("mqtt_receive_maximum")?,
        kinds: RecordKind::ALL.to_vec(),
    };
    let handles = bridge::Handles {
        metrics: shared.metrics.clone(),
        health: shared.health.clone(),
        clock: Clock::system(),
    };
    tasks.spawn(bridge::run(config, log, handles, shared.shutdown.clone()));
    Ok(())
}

/// The log, with its options looked at.
pub(crate) fn cluster(settings: &Settings) -> Result<Cluster, Failure> {
    let cluster = Cluster {
        brokers: settings.text("kafka_brokers")?,
        options: settings.pairs("kafka_options")?,
    };
    cluster.check_options().map_err(|wrong| {
        settings.unacceptable("kafka_options", format!("options of librdkafka ({wrong})"))
    })?;
    Ok(cluster)
}

/// The log's topics.
pub(crate) fn topics(settings: &Settings) -> Result<KafkaTopics, Failure> {
    let prefix = settings.text("kafka_topic_prefix")?;
    let legal = |it: char| it.is_ascii_alphanumeric() || "._-".contains(it);
    if prefix.len() > LONGEST_PREFIX || !prefix.chars().all(legal) {
        let expected = "at most 200 letters, digits, dots, underscores and hyphens";
        return Err(settings.unacceptable("kafka_topic_prefix", expected).into());
    }
    Ok(KafkaTopics::new(&prefix))
}

/// The database, when it is connected to.
pub(crate) fn store(
    settings: &Settings,
    connections: u32,
    statement_timeout: Duration,
) -> Result<Store, Failure> {
    let url = settings.text("database_url")?;
    Store::open_with(&url, connections, statement_timeout).map_err(|_| {
        settings
            .unacceptable(
                "database_url",
                "postgres://user:password@host:port/database",
            )
            .into()
    })
}

fn kafka_log(settings: &Settings) -> Result<KafkaLog, Failure> {
    let config = KafkaConfig {
        cluster: cluster(settings)?,
        topics: topics(settings)?,
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
        topics: topics(settings)?,
        kinds: RecordKind::ALL.to_vec(),
        partitions: settings.integer("kafka_partitions")?,
        group: settings.text("kafka_group")?,
        raw_retention: settings.duration("raw_retention")?,
    };
    let store = store(settings, AGGREGATOR_CONNECTIONS, STATEMENT_TIMEOUT)?;
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
    let store = store(settings, AGGREGATOR_CONNECTIONS, STATEMENT_TIMEOUT)?;
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
    process::raise_open_files();
    let path = settings.path("token_key_file")?;
    let keys = api::token::KeyRing::open(&path).map_err(|error| {
        settings.unacceptable(
            "token_key_file",
            format!("a key file, as `wattline admin token new-key` makes one ({error})"),
        )
    })?;
    let config = api::Config {
        keys,
        tls: https::certificate(settings)?,
        trusted_proxies: settings.networks("trusted_proxies"),
    };
    let listener = listen(settings, "http_listen").await?;
    let store = store(settings, API_CONNECTIONS, api::REQUEST_TIMEOUT)?;
    let handles = api::Handles {
        metrics: shared.metrics.clone(),
        health: shared.health.clone(),
        clock: Clock::system(),
    };
    tasks.spawn(api::run(
        config,
        listener,
        store,
        handles,
        shared.shutdown.clone(),
    ));
    Ok(())
}
