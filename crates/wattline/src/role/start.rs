//! Starts each role with what the settings say about it.

use super::servers::tell_weak_topics;
use super::{Errand, Roles, Shared, Tasks, cluster, store, topics};
use crate::direct;
use crate::failure::Failure;
use crate::{https, process};
use aggregator::retention;
use aggregator::writer::Writer;
use bridge::{DirectLog, KafkaConfig, KafkaLog, Log};
use ops::clock::Clock;
use ops::failure::Fatal;
use ops::server::serve_operations;
use ops::settings::Settings;
use std::net::SocketAddr;
use std::time::Duration;
use store::STATEMENT_TIMEOUT;
use tokio::net::TcpListener;
use tokio::task::JoinSet;
use wire::topic::RecordKind;

/// Connections of the aggregator: one writes, one folds, one looks up positions or probes, one drops or looks for
/// stretches, one counts what waits.
const AGGREGATOR_CONNECTIONS: u32 = 5;
/// Connections of control: one executes what is due, one publishes and one tells of it, one listens, one keeps
/// house, one counts what waits.
const CONTROL_CONNECTIONS: u32 = 6;
/// A statement of control takes some milliseconds. It is also how long a building can be held up by a process
/// that was stopped while it published for it.
const CONTROL_STATEMENT_TIMEOUT: Duration = Duration::from_secs(10);
/// Connections of the api: as many reads at once; more would only wait in the database.
const API_CONNECTIONS: u32 = 8;

pub(super) async fn start(
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
    if roles.control {
        start_control(settings, shared, tasks)?;
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
        // The bridge looks at the topics for as long as it runs, and tells the same.
        if roles.aggregator && !roles.bridge {
            let (cluster, topics) = (cluster(settings)?, topics(settings)?);
            let partitions = settings.integer("kafka_partitions")?;
            let shutdown = shared.shutdown.clone();
            tasks.spawn(tell_weak_topics(cluster, topics, partitions, shutdown));
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
        building_message_limit: settings.integer("building_message_limit")?,
        kinds: RecordKind::ALL.to_vec(),
        leave: shared.errand == Errand::Leave,
    };
    let handles = bridge::Handles {
        metrics: shared.metrics.clone(),
        health: shared.health.clone(),
        clock: Clock::system(),
    };
    let shutdown = shared.shutdown.clone();
    tasks.spawn(async move {
        let ended = bridge::run(config, log, handles, shutdown.clone()).await;
        // Who has left has nothing more to do.
        shutdown.trigger();
        ended
    });
    Ok(())
}

fn start_control(settings: &Settings, shared: &Shared, tasks: &mut Tasks) -> Result<(), Failure> {
    let config = control::Config {
        mqtt_url: settings.text("mqtt_url")?,
        // A bridge with the same settings has a session of its own.
        client_id: format!("{}-control", settings.text("mqtt_client_id")?),
    };
    let store = store(settings, CONTROL_CONNECTIONS, CONTROL_STATEMENT_TIMEOUT)?;
    let handles = control::Handles {
        metrics: shared.metrics.clone(),
        health: shared.health.clone(),
        clock: Clock::system(),
    };
    tasks.spawn(control::run(
        config,
        store,
        handles,
        shared.shutdown.clone(),
    ));
    Ok(())
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
        read_again_from: match shared.errand {
            Errand::ReadAgain(from) => Some(from),
            Errand::None | Errand::Leave => None,
        },
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
    let raw_retention = settings.duration("raw_retention")?;
    let writer = Writer::new(store.clone(), raw_retention, &handles);
    let receive_maximum: usize = settings.integer("mqtt_receive_maximum")?;
    let (sender, handovers) = tokio::sync::mpsc::channel(receive_maximum);
    start_bridge(settings, shared, tasks, Log::Direct(DirectLog::new(sender)))?;
    let shutdown = shared.shutdown.clone();
    let mut watching = JoinSet::new();
    aggregator::watch_database(&store, &handles, &shutdown, &mut watching);
    tasks.spawn(async move {
        direct::run(handovers, writer, shutdown).await;
        while let Some(ended) = watching.join_next().await {
            ended.map_err(|error| Fatal(format!("watch of the database: {error}")))?;
        }
        Ok(())
    });
    tasks.spawn({
        let (store, handles) = (store.clone(), handles.clone());
        let shutdown = shared.shutdown.clone();
        async move {
            aggregator::fold::run(&store, &handles, &shutdown).await;
            Ok(())
        }
    });
    let shutdown = shared.shutdown.clone();
    tasks.spawn(async move {
        let source = retention::Source::direct();
        retention::run(&store, raw_retention, source, &handles, &shutdown).await;
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
