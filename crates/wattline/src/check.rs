//! `wattline check`: connects to every server of the settings, and tells what it found.

use crate::failure::Failure;
use crate::{https, output, process, role};
use ops::clock::Clock;
use ops::settings::Settings;
use std::time::Duration;
use store::Edition;

/// Longest wait for a server.
const PATIENCE: Duration = Duration::from_secs(5);

pub(crate) fn run(settings: &Settings) -> Result<(), Failure> {
    for line in settings.describe() {
        output::line(&format!("setting   {line}"))?;
    }
    let direct = settings.choice("log_mode")? == "direct";
    let findings = process::block_on(async {
        let mut findings = vec![
            ("database", database(settings).await?),
            ("mqtt", broker(settings).await?),
        ];
        if !direct {
            findings.push(("kafka", log(settings).await?));
        }
        findings.push(("token keys", token_keys(settings)));
        findings.push(("https", https::look(settings, Clock::system().now_micros())));
        Ok(findings)
    })?;
    let mut missing = 0;
    for (name, finding) in findings {
        let (mark, text) = match finding {
            Ok(text) => ("ok", text),
            Err(text) => {
                missing += 1;
                ("MISSING", text)
            }
        };
        output::line(&format!("{mark:<9} {name}: {text}"))?;
    }
    match missing {
        0 => Ok(()),
        1 => Err(Failure::Running("1 thing is missing".to_owned())),
        more => Err(Failure::Running(format!("{more} things are missing"))),
    }
}

/// What was found, or what is missing.
type Finding = Result<String, String>;

async fn database(settings: &Settings) -> Result<Finding, Failure> {
    if settings.optional_text("database_url").is_none() {
        return Ok(Ok("not set: only the bridge can do without".to_owned()));
    }
    let store = role::store(settings, 1, PATIENCE)?;
    Ok(match store.inspect().await {
        Err(failure) => Err(failure.to_string()),
        Ok(found) if found.pending_migrations > 0 => {
            Err("the schema is not up to date: run `wattline migrate`".to_owned())
        }
        Ok(found) => {
            let edition = match found.edition {
                Edition::Plain => "without TimescaleDB".to_owned(),
                Edition::Timescale(version) => format!("with TimescaleDB {version}"),
            };
            Ok(format!(
                "PostgreSQL {} {edition}, schema up to date",
                found.server_version
            ))
        }
    })
}

async fn broker(settings: &Settings) -> Result<Finding, Failure> {
    let receive_maximum: u16 = settings.integer("mqtt_receive_maximum")?;
    let shared = settings.optional_text("mqtt_share_group").is_some();
    Ok(
        match bridge::look_at_broker(&settings.text("mqtt_url")?, PATIENCE).await {
            Err(cause) => Err(cause),
            Ok(offer) if shared && !offer.shared_subscriptions => Err(
                "the broker has no shared subscriptions, and mqtt_share_group asks for them"
                    .to_owned(),
            ),
            Ok(offer) => Ok(format!(
                "connected, {receive_maximum} messages in flight, {offer}"
            )),
        },
    )
}

async fn log(settings: &Settings) -> Result<Finding, Failure> {
    let cluster = role::cluster(settings)?;
    let topics = role::topics(settings)?;
    let looked = tokio::task::spawn_blocking(move || cluster.look(&topics.all(), PATIENCE)).await;
    Ok(match looked {
        Err(error) => Err(error.to_string()),
        Ok(Err(unreachable)) => Err(unreachable.to_string()),
        // Whoever finds a topic missing makes it, so this is no fault.
        Ok(Ok(found)) => Ok(format!(
            "{} brokers, {} topics still to be made",
            found.brokers,
            found.missing_topics.len()
        )),
    })
}

fn token_keys(settings: &Settings) -> Finding {
    let Some(path) = settings.optional_path("token_key_file") else {
        return Ok("not set: only the api needs them".to_owned());
    };
    api::token::Keys::read(&path)
        .map(|_| format!("{} is readable", path.display()))
        .map_err(|error| format!("{}: {error}", path.display()))
}
