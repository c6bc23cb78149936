//! A look at the database without changing it.

use crate::migrate::{Edition, installed_edition};
use crate::schema::{SchemaAge, schema_age};
use crate::{Store, StoreFailure};
use sqlx::{Connection as _, PgConnection, Row};

/// What `check` tells of the database.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Inspected {
    /// Server version, as the server tells it.
    pub server_version: String,
    /// With or without TimescaleDB.
    pub edition: Edition,
    /// The schema beside what this binary knows.
    pub schema: SchemaAge,
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
        let edition = installed_edition(&mut connection).await?;
        let schema = schema_age(&mut connection).await?;
        connection.close().await?;
        Ok(Inspected {
            server_version,
            edition,
            schema,
        })
    }
}
