//! What administration lists.

use crate::administration::{KeptToken, role, token};
use crate::instant::Instant;
use crate::{Role, Store, StoreFailure};
use domain::time::Timestamp;
use sqlx::Row;
use uuid::Uuid;

/// A user, as administration lists it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedUser {
    /// Name to log in with.
    pub username: String,
    /// Whether the user can do nothing.
    pub disabled: bool,
    /// Buildings that the user is linked to.
    pub buildings: i64,
    /// Refresh tokens that are neither used nor expired.
    pub outstanding_tokens: i64,
}

/// A building, as administration lists it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedBuilding {
    /// Identity.
    pub uuid: Uuid,
    /// Name for people.
    pub name: String,
    /// IANA timezone.
    pub timezone: String,
    /// Changes how curtailment behaves.
    pub consumption_compensated_curtailment: bool,
    /// Whether its messages are refused and no user sees it.
    pub disabled: bool,
    /// Sensors, the service's own among them.
    pub sensors: i64,
    /// Users who are linked to it.
    pub users: i64,
}

/// A link, as administration lists it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedLink {
    /// The user.
    pub username: String,
    /// The building.
    pub building: Uuid,
    /// What the user may do there.
    pub role: Role,
}

impl Store {
    /// All users, by name.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn list_users(&self, now: Timestamp) -> Result<Vec<ListedUser>, StoreFailure> {
        let rows = sqlx::query(include_str!("queries/list_users.sql"))
            .bind(Instant(now))
            .fetch_all(&self.pool)
            .await?;
        rows.iter()
            .map(|row| {
                Ok(ListedUser {
                    username: row.try_get("username")?,
                    disabled: row.try_get("disabled")?,
                    buildings: row.try_get("buildings")?,
                    outstanding_tokens: row.try_get("outstanding_tokens")?,
                })
            })
            .collect()
    }

    /// All buildings, by name.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn list_buildings(&self) -> Result<Vec<ListedBuilding>, StoreFailure> {
        let rows = sqlx::query(include_str!("queries/list_buildings.sql"))
            .fetch_all(&self.pool)
            .await?;
        rows.iter()
            .map(|row| {
                Ok(ListedBuilding {
                    uuid: row.try_get("uuid")?,
                    name: row.try_get("name")?,
                    timezone: row.try_get("timezone")?,
                    consumption_compensated_curtailment: row
                        .try_get("consumption_compensated_curtailment")?,
                    disabled: row.try_get("disabled")?,
                    sensors: row.try_get("sensors")?,
                    users: row.try_get("users")?,
                })
            })
            .collect()
    }

    /// Links, by user; of one user or one building where these are named.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn list_links(
        &self,
        username: Option<&str>,
        building: Option<Uuid>,
    ) -> Result<Vec<ListedLink>, StoreFailure> {
        let rows = sqlx::query(include_str!("queries/list_links.sql"))
            .bind(username)
            .bind(building)
            .fetch_all(&self.pool)
            .await?;
        rows.iter()
            .map(|row| {
                Ok(ListedLink {
                    username: row.try_get("username")?,
                    building: row.try_get("building_uuid")?,
                    role: role(row)?,
                })
            })
            .collect()
    }

    /// Refresh tokens that are neither used nor expired, by user and age, each with its `jti`.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn list_outstanding_tokens(
        &self,
        username: Option<&str>,
        now: Timestamp,
    ) -> Result<Vec<(Uuid, KeptToken)>, StoreFailure> {
        let rows = sqlx::query(include_str!("queries/outstanding_tokens.sql"))
            .bind(username)
            .bind(Instant(now))
            .fetch_all(&self.pool)
            .await?;
        rows.iter()
            .map(|row| Ok((row.try_get("jti")?, token(row)?)))
            .collect()
    }

    /// Those of `buildings` that do not exist.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn unknown_buildings(&self, buildings: &[Uuid]) -> Result<Vec<Uuid>, StoreFailure> {
        let rows = sqlx::query(include_str!("queries/unknown_buildings.sql"))
            .bind(buildings)
            .fetch_all(&self.pool)
            .await?;
        rows.iter().map(|row| Ok(row.try_get("uuid")?)).collect()
    }
}
