//! `wattline check`: connects to every server of the settings, and tells what it found.

use crate::failure::Failure;
use crate::{https, output, process, role};
use ops::clock::Clock;
use ops::settings::Settings;
use std::time::Duration;
use store::{Edition, SchemaAge, StoreFailure};

/// Longest wait for a server.
const PATIENCE: Duration = Duration::from_secs(5);

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
    let inspected = tokio::time::timeout(PATIENCE, store.inspect()).await;
    let inspected = inspected.unwrap_or_else(|_| {
        let seconds = PATIENCE.as_secs();
        Err(StoreFailure::Transient(format!(
            "database: no answer within {seconds} s"
        )))
    });
    let found = match inspected {
        Err(failure) => return Ok(Err(store.tell(&failure)).into()),
        Ok(found) => found,
    };
    if let Some(trouble) = found.schema.trouble() {
        return Ok(Err(trouble).into());
    }
    let edition = match found.edition {
        Edition::Plain => "without TimescaleDB".to_owned(),
        Edition::Timescale(version) => format!("with TimescaleDB {version}"),
    };
    let version = found.server_version;
    let text = format!("PostgreSQL {version} {edition}, schema up to date");
    let mut found_all = Found::from(Ok(text));
    if let SchemaAge::Newer(unknown) = found.schema {
        found_all.weaker.push(format!(
            "the schema has {} migrations that this binary does not know, and goes on with: run the newer one soon",
            unknown.len()
        ));
    }
    Ok(found_all)
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
    let looked = tokio::spawn(async move {
        let demands = role::demands(&topics, partitions);
        let looked = kafka::topic::look(&cluster, &demands, PATIENCE);
        looked.await.map_err(|it| cluster.tell(&it.0))
    });
    let looked = looked.await.unwrap_or_else(|error| Err(error.to_string()));
    let looked = match looked {
        Err(unreachable) => return Ok(Err(unreachable).into()),
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
