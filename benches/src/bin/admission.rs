//! What it costs to let a request in: the one statement that looks at the user, the link to the building
//! and the rate limit, and counts the request. On a private, durable PostgreSQL; needs a release build for
//! figures that mean something. Wanted: under 1 ms at the median.
#![expect(clippy::print_stdout, reason = "figures are for people")]

use domain::time::Timestamp;
use embedded::{Edition, Postgres, PostgresOptions};
use std::error::Error;
use std::time::{Duration, Instant};
use store::{
    Fleet, FleetBuilding, FleetLink, FleetUser, RequestLimit, Role, STATEMENT_TIMEOUT, Store,
};
use tokio::task::JoinSet;
use uuid::Uuid;

/// Buildings, and users who are linked to 1, 10, 100 or 1,000 of them in turn.
const BUILDINGS: usize = 1_000;
const USERS: usize = 200;
/// Connections, as an api has.
const CONNECTIONS: u32 = 8;
const REQUESTS_EACH: usize = 4_000;

/// High enough that no request is refused: that would cost the same.
const LIMIT: RequestLimit = RequestLimit {
    each_building: 1_000_000,
    least: 1_000_000,
    window: Duration::from_secs(3_600),
};

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error + Send + Sync>> {
    let folder = embedded::temporary_folder()?;
    let mut options = PostgresOptions::new(folder.path(), Edition::Plain);
    options.durable = true;
    let postgres = Postgres::start(&options)?;
    postgres.create_database("wattline")?;
    let store = Store::open_with(&postgres.url("wattline"), CONNECTIONS, STATEMENT_TIMEOUT)?;
    store.migrate().await?;
    let fleet = fleet();
    store.apply_fleet(&fleet, false).await?;

    println!("one request after the other (unloaded):");
    measure(&store, &fleet, 1, USERS).await?;
    println!("eight at once, 200 users:");
    measure(&store, &fleet, 8, USERS).await?;
    println!("eight at once, all of one user with one building:");
    measure(&store, &fleet, 8, 1).await?;
    store.close().await;
    Ok(())
}

fn fleet() -> Fleet {
    let buildings: Vec<FleetBuilding> = (0..BUILDINGS)
        .map(|index| FleetBuilding {
            uuid: Uuid::new_v4(),
            name: format!("Building {index}"),
            timezone: "UTC".to_owned(),
            consumption_compensated_curtailment: false,
            hubs: Vec::new(),
        })
        .collect();
    let links = |count: usize| -> Vec<FleetLink> {
        let linked = buildings.iter().take(count).map(|building| FleetLink {
            building: building.uuid,
            role: Role::Operator,
        });
        linked.collect()
    };
    let users = (0..USERS).map(|index| FleetUser {
        username: format!("user{index}"),
        password_hash: String::new(),
        links: links([1, 10, 100, 1_000][index % 4]),
    });
    Fleet {
        users: users.collect(),
        buildings,
    }
}

/// Admits requests of the first `users` in `lanes` at once, and prints how long each took.
async fn measure(
    store: &Store,
    fleet: &Fleet,
    lanes: usize,
    users: usize,
) -> Result<(), Box<dyn Error + Send + Sync>> {
    let began = Instant::now();
    let mut tasks = JoinSet::new();
    for lane in 0..lanes {
        let store = store.clone();
        let users: Vec<(String, Uuid)> = fleet.users[..users]
            .iter()
            .map(|user| (user.username.clone(), user.links[0].building))
            .collect();
        tasks.spawn(async move { admit_all(&store, &users, lane).await });
    }
    let mut took = Vec::new();
    while let Some(lane) = tasks.join_next().await {
        took.extend(lane??);
    }
    let rate = took.len() as f64 / began.elapsed().as_secs_f64();
    took.sort_unstable();
    let at = |percent: usize| took[(took.len() - 1) * percent / 100].as_secs_f64() * 1e3;
    println!(
        "  median {:.3} ms, 99th percentile {:.3} ms, {rate:.0}/s",
        at(50),
        at(99)
    );
    Ok(())
}

async fn admit_all(
    store: &Store,
    users: &[(String, Uuid)],
    lane: usize,
) -> Result<Vec<Duration>, store::StoreFailure> {
    let now = Timestamp::from_seconds(1_800_000_000);
    let mut took = Vec::with_capacity(REQUESTS_EACH);
    for request in 0..REQUESTS_EACH {
        let (username, building) = &users[(request * 7 + lane * 31) % users.len()];
        let began = Instant::now();
        let admission = store.admit(username, Some(*building), LIMIT, now).await?;
        took.push(began.elapsed());
        assert!(admission.is_some_and(|it| it.admitted && it.role.is_some()));
    }
    Ok(took)
}
