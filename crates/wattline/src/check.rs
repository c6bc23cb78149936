//! `wattline check`: connects to every server of the settings, and tells what it found.

use crate::failure::Failure;
use crate::{https, output, process, role};
use ops::clock::Clock;
use ops::settings::Settings;
use std::time::Duration;
use store::{Inspected, SchemaAge};

/// Longest wait for a server.
const PATIENCE: Duration = Duration::from_secs(5);

/// `server_version_num` of the oldest PostgreSQL that the service works with (`operations.md`, settings).
const OLDEST_POSTGRESQL: i32 = 150_000;

pub(crate) fn run(settings: &Settings) -> Result<(), Failure> {
    for line in settings.describe() {
        output::line(&format!("setting   {line}"))?;
    }
    let direct = settings.choice("log_mode")? == "direct";
    let found = process::block_on(async {
        let mut found = vec![
            ("database", database(settings).await?),
            ("mqtt", broker(settings).await?),
        ];
        if !direct {
            found.push(("kafka", log(settings).await?));
        }
        found.push(("token keys", token_keys(settings).into()));
        let https = https::look(settings, Clock::system().now_micros());
        found.push(("https", https.into()));
        Ok(found)
    })?;
    let mut missing = 0;
    for (name, found) in found {
        let (mark, text) = match found.finding {
            Ok(text) => ("ok", text),
            Err(text) => {
                missing += 1;
                ("MISSING", text)
            }
        };
        output::line(&format!("{mark:<9} {name}: {text}"))?;
        missing += found.loses.len();
        for text in found.loses {
            output::line(&format!("WRONG     {name}: {text}"))?;
        }
        for text in found.weaker {
            output::line(&format!("warning   {name}: {text}"))?;
        }
    }
    match missing {
        0 => Ok(()),
        1 => Err(Failure::Running("1 thing is missing or wrong".to_owned())),
        more => Err(Failure::Running(format!(
            "{more} things are missing or wrong"
        ))),
    }
}

/// What was found, or what is missing.
type Finding = Result<String, String>;

/// What a look at one server found.
struct Found {
    finding: Finding,
    /// What loses messages.
    loses: Vec<String>,
    /// What works, and could be better.
    weaker: Vec<String>,
}

impl From<Finding> for Found {
    fn from(finding: Finding) -> Self {
        Self {
            finding,
            loses: Vec::new(),
            weaker: Vec::new(),
        }
    }
}

async fn database(settings: &Settings) -> Result<Found, Failure> {
    if settings.optional_text("database_url").is_none() {
        return Ok(Ok("not set: only the bridge can do without".to_owned()).into());
    }
    let store = role::store(settings, 1, PATIENCE)?;
    let looked = async {
        let inspected = store.inspect().await.map_err(|it| store.tell(&it))?;
        if let Some(trouble) = inspected.schema.trouble() {
            return Err(trouble);
        }
        // What every role asks each second: a standby or a lock is none of the settings, and stops all the same.
        store.watch().look().await?;
        Ok(inspected)
    };
    let looked = tokio::time::timeout(PATIENCE, looked).await;
    let silent = || {
        format!(
            "{}: no answer within {} s",
            store.server(),
            PATIENCE.as_secs()
        )
    };
    Ok(match looked.unwrap_or_else(|_| Err(silent())) {
        Err(cause) => Err(cause).into(),
        Ok(inspected) => judge_database(inspected),
    })
}

fn judge_database(inspected: Inspected) -> Found {
    let (version, edition) = (inspected.server_version, inspected.edition);
    if inspected.server_version_number < OLDEST_POSTGRESQL {
        return Err(format!(
            "PostgreSQL {version}: 15 is the oldest that is worked with"
        ))
        .into();
    }
    let text = format!("PostgreSQL {version} {edition}, schema up to date");
    let mut found = Found::from(Ok(text));
    if let SchemaAge::Newer(unknown) = inspected.schema {
        found.weaker.push(format!(
            "the schema has {} migrations that this binary does not know, and goes on with: run the newer one soon",
            unknown.len()
        ));
    }
    for setting in inspected.not_durable {
        found.weaker.push(format!(
            "{setting}: what was committed, and in direct mode acknowledged, may be gone after a crash"
        ));
    }
    if !inspected.not_owned.is_empty() {
        found.weaker.push(format!(
            "the role does not own {}: an aggregator drops nothing of it, however old",
            inspected.not_owned.join(", ")
        ));
    }
    found
}

async fn broker(settings: &Settings) -> Result<Found, Failure> {
    let receive_maximum: u16 = settings.integer("mqtt_receive_maximum")?;
    let needs = mqtt::Needs {
        shared_subscriptions: settings.optional_text("mqtt_share_group").is_some(),
        publishes: true,
    };
    let (url, client_id) = (settings.text("mqtt_url")?, settings.text("mqtt_client_id")?);
    let looked = match bridge::look_at_broker(&url, &client_id, PATIENCE).await {
        Err(cause) => return Ok(Err(cause).into()),
        Ok(looked) => looked,
    };
    let offer = &looked.offer;
    let text = format!("connected, {receive_maximum} messages in flight, {offer}");
    let mut found = Found::from(Ok(text));
    for finding in offer.judge(needs) {
        match finding {
            mqtt::Finding::Loses(text) => found.loses.push(text),
            mqtt::Finding::Weaker(text) => found.weaker.push(text),
        }
    }
    if let Some(dropped) = looked.dropped_messages.filter(|it| *it > 0) {
        found.weaker.push(format!(
            "the broker has dropped {dropped} messages since its start because a queue was full (max_queued_messages)"
        ));
    }
    Ok(found)
}

async fn log(settings: &Settings) -> Result<Found, Failure> {
    let cluster = role::cluster(settings)?;
    let topics = role::topics(settings)?;
    let partitions = settings.integer("kafka_partitions")?;
    let demands = role::demands(&topics, partitions);
    let looked = match kafka::topic::look(&cluster, &demands, PATIENCE).await {
        Err(unreachable) => return Ok(Err(cluster.tell(&unreachable.0)).into()),
        Ok(looked) => looked,
    };
    // Whoever finds a topic missing makes it, so this is no fault.
    let (brokers, missing) = (looked.brokers, looked.missing);
    let text = format!("{brokers} brokers, {missing} topics still to be made");
    let mut found = Found::from(Ok(text));
    for finding in looked.findings {
        match finding {
            kafka::topic::Finding::Loses(text) => found.loses.push(text),
            kafka::topic::Finding::Weaker(text) => found.weaker.push(text),
        }
    }
    Ok(found)
}

fn token_keys(settings: &Settings) -> Finding {
    let Some(path) = settings.optional_path("token_key_file") else {
        return Ok("not set: only the api needs them".to_owned());
    };
    api::token::Keys::read(&path)
        .map(|_| format!("{} is readable", path.display()))
        .map_err(|error| format!("{}: {error}", path.display()))
}
