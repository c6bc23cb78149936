//! A look at the database without changing it.

use crate::migrate::{Edition, installed_edition};
use crate::raw_tables::RAW_TABLES;
use crate::schema::{SchemaAge, schema_age};
use crate::{Store, StoreFailure};
use sqlx::{Connection as _, PgConnection, Row};

/// What `check` tells of the database.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Inspected {
    /// Server version, as the server tells it.
    pub server_version: String,
    /// The same as a number: 150004 is 15.4.
    pub server_version_number: i32,
    /// With or without TimescaleDB.
    pub edition: Edition,
    /// The schema beside what this binary knows.
    pub schema: SchemaAge,
    /// Raw tables that are not the role's own, so that it cannot drop what is too old.
    pub not_owned: Vec<String>,
    /// Settings by which a crash may take back what was committed, as `fsync is off`.
    pub not_durable: Vec<String>,
}

impl Store {
    /// Looks at the server and the schema.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn inspect(&self) -> Result<Inspected, StoreFailure> {
        // Not of the pool, which gives none to a schema that must not be touched.
        let mut connection = PgConnection::connect_with(&self.pool.connect_options()).await?;
        let server_version = sqlx::query("show server_version")
            .fetch_one(&mut connection)
            .await?
            .try_get(0)?;
        let number: String = sqlx::query("show server_version_num")
            .fetch_one(&mut connection)
            .await?
            .try_get(0)?;
        let edition = installed_edition(&mut connection).await?;
        let schema = schema_age(&mut connection).await?;
        let not_owned = sqlx::query_scalar(include_str!("queries/not_owned.sql"))
            .bind(RAW_TABLES.as_slice())
            .fetch_all(&mut connection)
            .await?;
        let not_durable = sqlx::query_scalar(include_str!("queries/not_durable.sql"))
            .fetch_all(&mut connection)
            .await?;
        connection.close().await?;
        Ok(Inspected {
            server_version,
            server_version_number: number.parse().unwrap_or_default(),
            edition,
            schema,
            not_owned,
            not_durable,
        })
    }
}
