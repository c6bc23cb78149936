//! The administrative tables as they are at one moment, or the part of them that a change can touch.

use crate::administration::change::Change;
use crate::instant::Instant;
use crate::{Role, StoreFailure};
use domain::time::Timestamp;
use sqlx::postgres::PgRow;
use sqlx::{PgConnection, Row};
use std::collections::BTreeMap;
use std::fmt;
use uuid::Uuid;

/// Rows by their identity.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Snapshot {
    /// Buildings.
    pub buildings: BTreeMap<Uuid, KeptBuilding>,
    /// Sensor hubs.
    pub hubs: BTreeMap<Uuid, KeptHub>,
    /// Sensors, the service's own among them.
    pub sensors: BTreeMap<Uuid, KeptSensor>,
    /// Users.
    pub users: BTreeMap<String, KeptUser>,
    /// What a user may do in a building.
    pub links: BTreeMap<(String, Uuid), Role>,
    /// Outstanding refresh tokens by `jti`, where the change is about them.
    pub tokens: BTreeMap<Uuid, KeptToken>,
}

/// A building's row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeptBuilding {
    /// Name for people.
    pub name: String,
    /// IANA timezone.
    pub timezone: String,
    /// Changes how curtailment behaves.
    pub consumption_compensated_curtailment: bool,
    /// Whether its messages are refused and no user sees it.
    pub disabled: bool,
}

/// A hub's row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeptHub {
    /// The building.
    pub building: Uuid,
    /// Name for people.
    pub name: String,
    /// What it is.
    pub kind: String,
    /// Place in the building.
    pub position: i32,
    /// `fleet` or `service`: who named it.
    pub origin: String,
}

/// A sensor's row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeptSensor {
    /// The building.
    pub building: Uuid,
    /// The hub.
    pub hub: Uuid,
    /// Name for people.
    pub name: String,
    /// What it measures, as the interface spells it.
    pub kind: String,
    /// `minute`, `quarter` or `day`.
    pub min_interval: String,
    /// Name of the meter.
    pub meter_name: Option<String>,
    /// Tariff of the meter.
    pub tariff: Option<String>,
    /// Place in the building.
    pub position: i32,
    /// `fleet` or `service`: who named it.
    pub origin: String,
}

/// A user's row. Its `Debug` does not show the hash.
#[derive(Clone, PartialEq, Eq)]
pub struct KeptUser {
    /// argon2id, PHC string: tells whether the password changes, and is never shown.
    pub password_hash: String,
    /// Whether the user can do nothing.
    pub disabled: bool,
}

impl fmt::Debug for KeptUser {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("KeptUser")
            .field("disabled", &self.disabled)
            .finish_non_exhaustive()
    }
}

/// An outstanding refresh token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeptToken {
    /// Whose it is.
    pub username: String,
    /// When it was made.
    pub issued_at: Timestamp,
    /// From when on it is worthless.
    pub expires_at: Timestamp,
}

/// Which rows a change can touch.
#[derive(Clone, Debug, Default)]
pub(crate) struct Scope {
    /// All, but no tokens.
    pub(crate) everything: bool,
    /// A building, its hubs, sensors and links.
    pub(crate) building: Option<Uuid>,
    /// A user and the user's links.
    pub(crate) user: Option<String>,
    /// The user's tokens that are outstanding then.
    pub(crate) tokens_at: Option<Timestamp>,
}

impl Scope {
    /// The scope of a change.
    pub(crate) async fn of(
        connection: &mut PgConnection,
        change: &Change,
    ) -> Result<Self, StoreFailure> {
        let building = |uuid: &Uuid| Self {
            building: Some(*uuid),
            ..Self::default()
        };
        let user = |name: &String| Self {
            user: Some(name.clone()),
            ..Self::default()
        };
        Ok(match change {
            Change::Fleet { .. } => Self {
                everything: true,
                ..Self::default()
            },
            Change::PutBuilding(put) => building(&put.uuid),
            Change::DisableBuilding { building: uuid, .. } | Change::RemoveBuilding(uuid) => {
                building(uuid)
            }
            Change::PutUser { username, .. }
            | Change::DisableUser { username, .. }
            | Change::RemoveUser(username)
            | Change::PutLink { username, .. }
            | Change::RemoveLink { username, .. } => user(username),
            Change::PutSensor(put) => building(&put.building),
            Change::RemoveSensor(sensor) => building(&building_of(connection, *sensor).await?),
            Change::RevokeTokens { username, now, .. } => Self {
                tokens_at: Some(*now),
                ..user(username)
            },
        })
    }
}

async fn building_of(connection: &mut PgConnection, sensor: Uuid) -> Result<Uuid, StoreFailure> {
    let row = sqlx::query("select building_uuid from sensor where sensor_uuid = $1")
        .bind(sensor)
        .fetch_optional(connection)
        .await?;
    match row {
        Some(row) => Ok(row.try_get("building_uuid")?),
        None => Err(StoreFailure::Permanent(format!(
            "there is no sensor {sensor}"
        ))),
    }
}

impl Snapshot {
    /// Reads the rows of the scope.
    pub(crate) async fn take(
        connection: &mut PgConnection,
        scope: &Scope,
    ) -> Result<Self, StoreFailure> {
        let mut taken = Self::default();
        let of_buildings = [
            include_str!("../queries/administered_buildings.sql"),
            include_str!("../queries/administered_hubs.sql"),
            include_str!("../queries/administered_sensors.sql"),
        ];
        let [buildings, hubs, sensors] = of_buildings.map(|statement| {
            sqlx::query(statement)
                .bind(scope.everything)
                .bind(scope.building)
        });
        for row in buildings.fetch_all(&mut *connection).await? {
            taken
                .buildings
                .insert(row.try_get("uuid")?, building(&row)?);
        }
        for row in hubs.fetch_all(&mut *connection).await? {
            taken.hubs.insert(row.try_get("uuid")?, hub(&row)?);
        }
        for row in sensors.fetch_all(&mut *connection).await? {
            taken
                .sensors
                .insert(row.try_get("sensor_uuid")?, sensor(&row)?);
        }
        taken.take_users(connection, scope).await?;
        Ok(taken)
    }

    async fn take_users(
        &mut self,
        connection: &mut PgConnection,
        scope: &Scope,
    ) -> Result<(), StoreFailure> {
        let users = sqlx::query(include_str!("../queries/administered_users.sql"))
            .bind(scope.everything)
            .bind(&scope.user);
        for row in users.fetch_all(&mut *connection).await? {
            self.users.insert(row.try_get("username")?, user(&row)?);
        }
        let links = sqlx::query(include_str!("../queries/administered_links.sql"))
            .bind(scope.everything)
            .bind(scope.building)
            .bind(&scope.user);
        for row in links.fetch_all(&mut *connection).await? {
            let identity = (row.try_get("username")?, row.try_get("building_uuid")?);
            self.links.insert(identity, role(&row)?);
        }
        let Some(now) = scope.tokens_at else {
            return Ok(());
        };
        let tokens = sqlx::query(include_str!("../queries/outstanding_tokens.sql"))
            .bind(&scope.user)
            .bind(Instant(now));
        for row in tokens.fetch_all(connection).await? {
            self.tokens.insert(row.try_get("jti")?, token(&row)?);
        }
        Ok(())
    }
}

fn building(row: &PgRow) -> Result<KeptBuilding, StoreFailure> {
    Ok(KeptBuilding {
        name: row.try_get("name")?,
        timezone: row.try_get("timezone")?,
        consumption_compensated_curtailment: row.try_get("consumption_compensated_curtailment")?,
        disabled: row.try_get("disabled")?,
    })
}

fn hub(row: &PgRow) -> Result<KeptHub, StoreFailure> {
    Ok(KeptHub {
        building: row.try_get("building_uuid")?,
        name: row.try_get("name")?,
        kind: row.try_get("kind")?,
        position: row.try_get("position")?,
        origin: row.try_get("origin")?,
    })
}

fn sensor(row: &PgRow) -> Result<KeptSensor, StoreFailure> {
    Ok(KeptSensor {
        building: row.try_get("building_uuid")?,
        hub: row.try_get("hub_uuid")?,
        name: row.try_get("name")?,
        kind: row.try_get("kind")?,
        min_interval: row.try_get("min_interval")?,
        meter_name: row.try_get("meter_name")?,
        tariff: row.try_get("tariff")?,
        position: row.try_get("position")?,
        origin: row.try_get("origin")?,
    })
}

fn user(row: &PgRow) -> Result<KeptUser, StoreFailure> {
    Ok(KeptUser {
        password_hash: row.try_get("password_hash")?,
        disabled: row.try_get("disabled")?,
    })
}

/// The role in a row's column `role`.
pub(crate) fn role(row: &PgRow) -> Result<Role, StoreFailure> {
    let word: String = row.try_get("role")?;
    Role::parse(&word)
        .ok_or_else(|| StoreFailure::Permanent(format!("the database names role {word:?}")))
}

/// The token of a row.
pub(crate) fn token(row: &PgRow) -> Result<KeptToken, StoreFailure> {
    let issued_at: Instant = row.try_get("issued_at")?;
    let expires_at: Instant = row.try_get("expires_at")?;
    Ok(KeptToken {
        username: row.try_get("username")?,
        issued_at: issued_at.0,
        expires_at: expires_at.0,
    })
}
