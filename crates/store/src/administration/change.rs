//! The changes that an operator can make.

use crate::StoreFailure;
use crate::administration::sensor;
use crate::fleet::{self, Fleet, FleetBuilding, FleetLink, FleetSensor};
use crate::instant::Instant;
use domain::time::Timestamp;
use sqlx::PgConnection;
use uuid::Uuid;

/// A change to who and what there is. What is put is made, or changed to what is said.
#[derive(Clone, Debug)]
pub enum Change {
    /// Everything matches a fleet; what it does not name is removed only with `prune`.
    Fleet {
        /// What there should be.
        fleet: Fleet,
        /// Whether nothing else should be.
        prune: bool,
    },
    /// A building's own row; hubs are not looked at.
    PutBuilding(FleetBuilding),
    /// A building's messages are refused and no user sees it, or again they are taken and it is seen.
    DisableBuilding {
        /// The building.
        building: Uuid,
        /// Whether it is disabled afterwards.
        disabled: bool,
    },
    /// A building, with all that was ever gathered of it but its dead letters.
    RemoveBuilding(Uuid),
    /// A user and the password.
    PutUser {
        /// Name to log in with.
        username: String,
        /// argon2id, PHC string.
        password_hash: String,
    },
    /// A user can do nothing, or again what the links say.
    DisableUser {
        /// The user.
        username: String,
        /// Whether the user is disabled afterwards.
        disabled: bool,
    },
    /// A user, with links and tokens.
    RemoveUser(String),
    /// A user's link.
    PutLink {
        /// The user.
        username: String,
        /// Where, and what the user may do there.
        link: FleetLink,
    },
    /// A user is no longer linked to a building.
    RemoveLink {
        /// The user.
        username: String,
        /// The building.
        building: Uuid,
    },
    /// A sensor, with its hub.
    PutSensor(PutSensor),
    /// A sensor that an operator named; its hub too, when it was the hub's last one.
    RemoveSensor(Uuid),
    /// Outstanding refresh tokens of a user are blacklisted.
    RevokeTokens {
        /// The user.
        username: String,
        /// Which one; without it all.
        jti: Option<Uuid>,
        /// When: from then on it is blacklisted, and what has expired by then is not outstanding.
        now: Timestamp,
    },
}

/// A sensor by itself, outside of a fleet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PutSensor {
    /// The building.
    pub building: Uuid,
    /// The hub.
    pub hub: Uuid,
    /// Name of the hub; without it, that of the hub that is there.
    pub hub_name: Option<String>,
    /// Kind of the hub; without it, that of the hub that is there.
    pub hub_kind: Option<String>,
    /// The sensor.
    pub sensor: FleetSensor,
}

/// Makes a change in the caller's transaction, which holds the locks.
pub(crate) async fn carry_out(
    connection: &mut PgConnection,
    change: &Change,
) -> Result<(), StoreFailure> {
    match change {
        Change::Fleet { fleet, prune } => fleet::apply(connection, fleet, *prune).await,
        Change::PutBuilding(building) => fleet::put_building(connection, building).await,
        Change::DisableBuilding { building, disabled } => {
            let statement = sqlx::query("update building set disabled = $2 where uuid = $1")
                .bind(building)
                .bind(disabled);
            affect_building(
                statement.execute(connection).await?.rows_affected(),
                *building,
            )
        }
        Change::RemoveBuilding(building) => {
            let statement = sqlx::query("delete from building where uuid = $1").bind(building);
            affect_building(
                statement.execute(connection).await?.rows_affected(),
                *building,
            )
        }
        Change::PutUser {
            username,
            password_hash,
        } => fleet::put_user(connection, username, password_hash).await,
        Change::DisableUser { username, disabled } => {
            let statement = sqlx::query("update app_user set disabled = $2 where username = $1")
                .bind(username)
                .bind(disabled);
            affect_user(
                statement.execute(connection).await?.rows_affected(),
                username,
            )
        }
        Change::RemoveUser(username) => {
            let statement = sqlx::query("delete from app_user where username = $1").bind(username);
            affect_user(
                statement.execute(connection).await?.rows_affected(),
                username,
            )
        }
        Change::PutLink { username, link } => {
            must_have_user(connection, username).await?;
            must_have_building(connection, link.building).await?;
            fleet::put_link(connection, username, *link).await
        }
        Change::RemoveLink { username, building } => {
            remove_link(connection, username, *building).await
        }
        Change::PutSensor(put) => sensor::put(connection, put).await,
        Change::RemoveSensor(sensor_uuid) => sensor::remove(connection, *sensor_uuid).await,
        Change::RevokeTokens { username, jti, now } => {
            revoke_tokens(connection, username, *jti, *now).await
        }
    }
}

async fn remove_link(
    connection: &mut PgConnection,
    username: &str,
    building: Uuid,
) -> Result<(), StoreFailure> {
    must_have_user(connection, username).await?;
    must_have_building(connection, building).await?;
    sqlx::query("delete from membership where username = $1 and building_uuid = $2")
        .bind(username)
        .bind(building)
        .execute(connection)
        .await?;
    Ok(())
}

async fn revoke_tokens(
    connection: &mut PgConnection,
    username: &str,
    jti: Option<Uuid>,
    now: Timestamp,
) -> Result<(), StoreFailure> {
    must_have_user(connection, username).await?;
    if let Some(jti) = jti {
        let known = sqlx::query("select from refresh_token where username = $1 and jti = $2")
            .bind(username)
            .bind(jti)
            .fetch_optional(&mut *connection)
            .await?;
        if known.is_none() {
            return Err(StoreFailure::Permanent(format!(
                "user {username:?} has no refresh token {jti}"
            )));
        }
    }
    sqlx::query(include_str!("../queries/revoke_tokens.sql"))
        .bind(username)
        .bind(jti)
        .bind(Instant(now))
        .execute(connection)
        .await?;
    Ok(())
}

async fn must_have_user(connection: &mut PgConnection, username: &str) -> Result<(), StoreFailure> {
    let found = sqlx::query("select from app_user where username = $1")
        .bind(username)
        .fetch_all(connection)
        .await?;
    affect_user(found.len() as u64, username)
}

/// Refuses a building that is not there.
pub(crate) async fn must_have_building(
    connection: &mut PgConnection,
    building: Uuid,
) -> Result<(), StoreFailure> {
    let found = sqlx::query("select from building where uuid = $1")
        .bind(building)
        .fetch_all(connection)
        .await?;
    affect_building(found.len() as u64, building)
}

fn affect_user(rows: u64, username: &str) -> Result<(), StoreFailure> {
    if rows == 0 {
        return Err(StoreFailure::Permanent(format!(
            "there is no user {username:?}"
        )));
    }
    Ok(())
}

fn affect_building(rows: u64, building: Uuid) -> Result<(), StoreFailure> {
    if rows == 0 {
        return Err(StoreFailure::Permanent(format!(
            "there is no building {building}"
        )));
    }
    Ok(())
}
