//! From an action posted to the controller that receives it: an open loop over HTTP.

use crate::buildings::{Building, USERS_BUILDINGS};
use crate::options::Options;
use crate::site::Site;
use benches::Outcome;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::time::{Duration, Instant};
use testkit::{Answer, Client, Method, ReceivedDocument};
use tokio::task::JoinSet;
use tokio::time::interval;
use uuid::Uuid;

/// Longer than any run: nothing ends meanwhile.
const TIMEOUT_S: u32 = 3_600;
/// Longest wait for a document after the last answer.
const PATIENCE: Duration = Duration::from_secs(15);
const LOOK: Duration = Duration::from_millis(50);

/// What became of the actions.
#[derive(Debug, Default)]
pub(crate) struct Acted {
    /// Seconds from when each was due to be posted until its answer was read.
    pub(crate) answered_s: Vec<f64>,
    /// Seconds from when each was due to be posted until a document with it was received.
    pub(crate) received_s: Vec<f64>,
    /// Answers that did not take the action.
    pub(crate) refused: usize,
    /// Actions that were taken, and that no document has shown.
    pub(crate) lost: usize,
}

/// An action that was posted.
struct Posted {
    due: Instant,
    answered: Instant,
    /// Without one it was refused.
    action_uuid: Option<Uuid>,
}

/// Users who are logged in, each connected once, as in any process that has run for a while.
pub(crate) async fn clients(
    site: &Site,
    buildings: &[Building],
    options: &Options,
) -> Outcome<Vec<Client>> {
    let clients = site.clients(options.acted).await;
    for number in 0..clients.len() {
        let number = number * USERS_BUILDINGS as usize;
        let (client, path, body) = request(number, &clients, &buildings[..options.acted as usize]);
        let answer = client.send(Method::POST, &path, Some(&body)).await;
        if answer.status != 204 {
            let (status, text) = (answer.status, answer.text);
            return Err(format!("an action is refused: {status} {text}").into());
        }
    }
    site.until_published().await?;
    Ok(clients)
}

/// Posts all actions and waits for their documents.
pub(crate) async fn run(
    site: &Site,
    buildings: &[Building],
    clients: &[Client],
    options: &Options,
) -> Outcome<Acted> {
    drop(site.receiver.take());
    let acted = &buildings[..options.acted as usize];
    let mut ticks = interval(Duration::from_secs(1) / options.rate);
    let mut tasks = JoinSet::new();
    for number in 0..(options.rate * options.seconds) as usize {
        let (client, path, body) = request(number, clients, acted);
        let due = ticks.tick().await.into_std();
        tasks.spawn(async move {
            let answer = client.send(Method::POST, &path, Some(&body)).await;
            Posted {
                due,
                answered: Instant::now(),
                action_uuid: action_uuid(&answer),
            }
        });
    }
    let posted = tasks.join_all().await;
    let seen = until_received(site, &posted).await;
    Ok(Acted::of(&posted, &seen))
}

/// Buildings in turn, families in turn, and so those of each building: an action is not replaced soon.
fn request(number: usize, clients: &[Client], acted: &[Building]) -> (Client, String, Value) {
    let (round, place) = (number / acted.len(), number % acted.len());
    let building = acted[place];
    let body = match (place + round) % 3 {
        0 => json!({"inverters_set_power_percentage": 10 + number % 90,
                    "inverters_set_power_timeout": TIMEOUT_S}),
        1 => json!({"battery_set_power_charge_watts": 1_000 + number % 1_000,
                    "battery_set_power_timeout": TIMEOUT_S}),
        _ => json!({"ev_sockets_update": [{"sensor_uuid": building.socket,
                    "ev_socket_set_power_charge_watts": 1_400 + number % 1_000,
                    "ev_socket_set_power_timeout": TIMEOUT_S}]}),
    };
    let client = clients[place / USERS_BUILDINGS as usize].clone();
    (
        client,
        format!("/buildings/{}/actions/", building.uuid),
        body,
    )
}

fn action_uuid(answer: &Answer) -> Option<Uuid> {
    let location = answer.header("location").trim_end_matches('/');
    let (_, last) = location.rsplit_once('/')?;
    last.parse().ok().filter(|_| answer.status == 204)
}

/// When each action was first seen in a document. A document may come before the answer.
async fn until_received(site: &Site, posted: &[Posted]) -> HashMap<Uuid, Instant> {
    let mut seen = HashMap::new();
    let taken: Vec<Uuid> = posted.iter().filter_map(|it| it.action_uuid).collect();
    let begun = Instant::now();
    loop {
        for document in site.receiver.take() {
            for action_uuid in action_uuids(&document) {
                seen.entry(action_uuid).or_insert(document.at);
            }
        }
        if begun.elapsed() > PATIENCE || taken.iter().all(|it| seen.contains_key(it)) {
            return seen;
        }
        tokio::time::sleep(LOOK).await;
    }
}

fn action_uuids(document: &ReceivedDocument) -> Vec<Uuid> {
    let body = &document.body;
    let sockets = body["ev_sockets"].as_array().into_iter().flatten();
    let entries = [&body["inverters"], &body["battery"]]
        .into_iter()
        .chain(sockets);
    let text = entries.filter_map(|it| it["action_uuid"].as_str());
    text.filter_map(|it| it.parse().ok()).collect()
}

impl Acted {
    fn of(posted: &[Posted], seen: &HashMap<Uuid, Instant>) -> Self {
        let mut acted = Self::default();
        for one in posted {
            let answered = one.answered - one.due;
            acted.answered_s.push(answered.as_secs_f64());
            match one.action_uuid.map(|it| seen.get(&it)) {
                None => acted.refused += 1,
                Some(None) => acted.lost += 1,
                Some(Some(at)) => acted.received_s.push((*at - one.due).as_secs_f64()),
            }
        }
        acted
    }
}
