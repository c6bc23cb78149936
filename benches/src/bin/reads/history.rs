//! A fleet with history: buckets, registers and values, written by the database itself.

use crate::api::PASSWORD;
use crate::options::Options;
use benches::Outcome;
use domain::time::Timestamp;
use ops::clock::Clock;
use serde_json::{Value, json};
use sqlx::{Connection, PgConnection, Row};
use store::{Folded, Store};
use uuid::Uuid;

/// Buildings of one user: the budget of each user is 500 requests an hour for each.
pub(crate) const BUILDINGS_PER_USER: u32 = 20;

/// What was loaded.
pub(crate) struct History {
    /// Each building with the `id` of its comfort sensor, in the order of the fleet file.
    pub(crate) buildings: Vec<(Uuid, i64)>,
    pub(crate) minute_buckets: i64,
    /// Epoch seconds of the first bucket.
    pub(crate) first_s: i64,
    /// Epoch seconds of the newest measurement.
    pub(crate) last_s: i64,
}

/// How many users there are.
pub(crate) const fn users(buildings: u32) -> u32 {
    buildings / BUILDINGS_PER_USER
}

fn uuid(kind: u128, number: u32) -> Uuid {
    Uuid::from_u128((0xaaaa << 112) | (4 << 76) | (8 << 60) | (kind << 40) | u128::from(number))
}

/// Buildings with a smart meter, a gas meter and a thermometer; every second with solar inverters, every
/// fourth with a battery.
pub(crate) fn fleet_file(buildings: u32) -> Value {
    let building = |number: u32| {
        let mut kinds = vec!["delivery", "return_delivery", "gas_volume", "temperature"];
        if number.is_multiple_of(2) {
            kinds.push("production");
        }
        if number.is_multiple_of(4) {
            kinds.extend(["charge", "discharge"]);
        }
        let sensors: Vec<Value> = (1..)
            .zip(kinds)
            .map(|(kind, word)| json!({"sensor_uuid": uuid(kind, number), "name": word, "kind": word}))
            .collect();
        json!({"uuid": uuid(100, number), "name": format!("Building {number}"), "timezone": "Europe/Amsterdam",
            "sensor_hubs": [{"uuid": uuid(101, number), "name": "Hub", "kind": "hub", "sensors": sensors}]})
    };
    let user = |number: u32| {
        let first = number * BUILDINGS_PER_USER;
        let links: Vec<Value> = (first..first + BUILDINGS_PER_USER)
            .map(|it| json!({"uuid": uuid(100, it), "role": "viewer"}))
            .collect();
        json!({"username": format!("user-{number}"), "password": PASSWORD, "buildings": links})
    };
    json!({
        "buildings": (0..buildings).map(building).collect::<Vec<_>>(),
        "users": (0..users(buildings)).map(user).collect::<Vec<_>>(),
    })
}

/// Writes the history, folds the days out of it, and lets the planner see it.
pub(crate) async fn load(database_url: &str, options: &Options) -> Outcome<History> {
    let mut connection = PgConnection::connect(database_url).await?;
    let now = Timestamp::from_micros(Clock::system().now_micros());
    let last_s = now.seconds() / 60 * 60;
    let first_s = last_s / 86_400 * 86_400 - i64::from(options.days) * 86_400;
    let script = include_str!("history.sql")
        .replace("{first}", &first_s.to_string())
        .replace("{last}", &last_s.to_string());
    sqlx::raw_sql(&script).execute(&mut connection).await?;
    let store = Store::open(database_url, 1)?;
    while store.fold(now).await? != Folded::default() {}
    store.close().await;
    sqlx::raw_sql("vacuum analyze")
        .execute(&mut connection)
        .await?;

    let minute_buckets = sqlx::query("select count(*) from minute_bucket")
        .fetch_one(&mut connection)
        .await?
        .try_get(0)?;
    let rows = sqlx::query(
        "select building_uuid, id from sensor where kind = 'temperature' order by building_uuid",
    )
    .fetch_all(&mut connection)
    .await?;
    let buildings = rows
        .iter()
        .map(|row| Ok((row.try_get(0)?, row.try_get(1)?)))
        .collect::<Result<_, sqlx::Error>>()?;
    Ok(History {
        buildings,
        minute_buckets,
        first_s,
        last_s,
    })
}
