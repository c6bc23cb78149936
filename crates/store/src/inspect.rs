//! A look at the database without changing it.

use crate::migrate::{Edition, MIGRATIONS, installed_edition};
use crate::{Store, StoreFailure};
use sqlx::Row;

/// What `check` tells of the database.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Inspected {
    /// Server version, as the server tells it.
    pub server_version: String,
    /// With or without TimescaleDB.
    pub edition: Edition,
    /// Migrations of this binary that are not in the database yet.
    pub pending_migrations: usize,
}

impl Store {
    /// Looks at the server and the schema.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn inspect(&self) -> Result<Inspected, StoreFailure> {
        let mut connection = self.pool.acquire().await?;
        let server_version = sqlx::query("show server_version")
            .fetch_one(&mut *connection)
            .await?
            .try_get(0)?;
        let edition = installed_edition(&mut connection).await?;
        let migrated: bool = sqlx::query("select to_regclass('_sqlx_migrations') is not null")
            .fetch_one(&mut *connection)
            .await?
            .try_get(0)?;
        let applied: i64 = if migrated {
            sqlx::query("select count(*) from _sqlx_migrations where success")
                .fetch_one(&mut *connection)
                .await?
                .try_get(0)?
        } else {
            0
        };
        let known = MIGRATIONS.iter().count();
        let pending_migrations = known.saturating_sub(usize::try_from(applied).unwrap_or_default());
        Ok(Inspected {
            server_version,
            edition,
            pending_migrations,
        })
    }
}
