//! Brings the schema up to date, and uses what the server offers beyond plain PostgreSQL.

use crate::schema::{SchemaAge, schema_age};
use crate::{Store, StoreFailure, raw_tables};
use sqlx::{Connection, PgConnection, Row};

/// What kind of server the database is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Edition {
    /// PostgreSQL without TimescaleDB.
    Plain,
    /// The version of the TimescaleDB extension.
    Timescale(String),
}

/// What `migrate` found and did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Migrated {
    /// Server version, as the server tells it.
    pub server_version: String,
    /// With or without TimescaleDB.
    pub edition: Edition,
}

/// The advisory lock that migrations hold, so that several may start at once.
const MIGRATION_LOCK: i64 = 0x77_61_74_74_6c_69_6e_65;

pub(crate) static MIGRATIONS: sqlx::migrate::Migrator = sqlx::migrate!();

impl Store {
    /// Brings the schema up to date; safe when several processes do so at once.
    ///
    /// # Errors
    /// When the database does not answer, the role may not create tables, or the schema was made by
    /// a newer binary.
    pub async fn migrate(&self) -> Result<Migrated, StoreFailure> {
        // A connection of its own: migrations may take longer than a statement of the service may.
        let mut connection = PgConnection::connect_with(&self.pool.connect_options()).await?;
        sqlx::query("set statement_timeout = 0")
            .execute(&mut connection)
            .await?;
        sqlx::query("select pg_advisory_lock($1)")
            .bind(MIGRATION_LOCK)
            .execute(&mut connection)
            .await?;
        let migrated = migrate_locked(&mut connection).await;
        // Ends the session, and the lock with it, whatever the outcome.
        connection.close().await?;
        migrated
    }
}

async fn migrate_locked(connection: &mut PgConnection) -> Result<Migrated, StoreFailure> {
    let age = schema_age(connection).await?;
    if let (SchemaAge::TooNew(_), Some(trouble)) = (&age, age.trouble()) {
        return Err(StoreFailure::Permanent(trouble));
    }
    let edition = create_extension(connection).await?;
    // A newer binary has been here, and this one can go on: there is nothing to do.
    if !matches!(age, SchemaAge::Newer(_)) {
        MIGRATIONS
            .run_direct(&mut *connection)
            .await
            .map_err(|error| StoreFailure::Permanent(format!("migration: {error}")))?;
        raw_tables::arrange(&mut *connection, &edition).await?;
    }
    let server_version = sqlx::query("show server_version")
        .fetch_one(connection)
        .await?
        .try_get(0)?;
    Ok(Migrated {
        server_version,
        edition,
    })
}

/// The edition as it is now.
pub(crate) async fn installed_edition(
    connection: &mut PgConnection,
) -> Result<Edition, StoreFailure> {
    let version = sqlx::query("select extversion from pg_extension where extname = 'timescaledb'")
        .fetch_optional(connection)
        .await?;
    match version {
        Some(row) => Ok(Edition::Timescale(row.try_get(0)?)),
        None => Ok(Edition::Plain),
    }
}

/// Makes the TimescaleDB extension where the server offers it and the role may.
async fn create_extension(connection: &mut PgConnection) -> Result<Edition, StoreFailure> {
    let offered: bool = sqlx::query(include_str!("queries/timescale_offered.sql"))
        .fetch_one(&mut *connection)
        .await?
        .try_get("offered")?;
    if offered
        && let Err(refusal) = sqlx::query("create extension if not exists timescaledb")
            .execute(&mut *connection)
            .await
    {
        tracing::warn!(%refusal, "timescaledb is offered but cannot be created: going on without it");
    }
    installed_edition(connection).await
}
