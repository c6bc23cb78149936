//! Brings the schema up to date, and uses what the server offers beyond plain PostgreSQL.

use crate::schema::{SchemaAge, schema_age};
use crate::{Store, StoreFailure, raw_tables};
use sqlx::{Connection, PgConnection, Row};
use std::fmt;

/// What kind of server the database is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Edition {
    /// PostgreSQL without TimescaleDB.
    Plain,
    /// With TimescaleDB.
    Timescale {
        /// The version of the extension.
        version: String,
        /// Under which licence it runs; told to people, and decides nothing.
        license: License,
    },
}

/// Which of TimescaleDB's features there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum License {
    /// What everybody may use: hypertables. Nothing more is needed.
    Apache,
    /// The columnstore and more besides.
    Community,
    /// The server does not tell, or tells another one.
    Unknown,
}

impl License {
    /// Reads the setting `timescaledb.license`.
    fn read(setting: Option<&str>) -> Self {
        match setting {
            Some("apache") => Self::Apache,
            Some("timescale") => Self::Community,
            Some(_) | None => Self::Unknown,
        }
    }
}

impl fmt::Display for Edition {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self::Timescale { version, license } = self else {
            return formatter.write_str("without TimescaleDB");
        };
        let license = match license {
            License::Apache => " (Apache edition)",
            License::Community => " (Community edition; its columnstore is not used)",
            License::Unknown => "",
        };
        write!(formatter, "with TimescaleDB {version}{license}")
    }
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
    let installed = sqlx::query(include_str!("queries/installed_edition.sql"))
        .fetch_optional(connection)
        .await?;
    let Some(row) = installed else {
        return Ok(Edition::Plain);
    };
    let license: Option<String> = row.try_get("license")?;
    Ok(Edition::Timescale {
        version: row.try_get("version")?,
        license: License::read(license.as_deref()),
    })
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_edition_is_told_with_its_licence() {
        let check = |setting, expected: &str| {
            let edition = Edition::Timescale {
                version: "2.19.3".to_owned(),
                license: License::read(setting),
            };
            assert_eq!(edition.to_string(), expected);
        };
        check(Some("apache"), "with TimescaleDB 2.19.3 (Apache edition)");
        check(
            Some("timescale"),
            "with TimescaleDB 2.19.3 (Community edition; its columnstore is not used)",
        );
        check(Some("another"), "with TimescaleDB 2.19.3");
        check(None, "with TimescaleDB 2.19.3");
        assert_eq!(Edition::Plain.to_string(), "without TimescaleDB");
    }
}
