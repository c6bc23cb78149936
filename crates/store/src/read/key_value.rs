//! Key-value registrations: the newest of each key.

use crate::instant::Instant;
use crate::{Store, StoreFailure};
use domain::time::Timestamp;
use sqlx::Row;
use uuid::Uuid;

/// The newest registration of a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyValue {
    /// The key.
    pub key: String,
    /// The JSON text of a string, a number or a boolean.
    pub value: String,
    /// When it was registered.
    pub time: Timestamp,
}

impl Store {
    /// The newest registration of each key of the building, by the code points of the keys.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn latest_key_values(&self, building: Uuid) -> Result<Vec<KeyValue>, StoreFailure> {
        let statement =
            sqlx::query(include_str!("../queries/latest_key_values.sql")).bind(building);
        let rows = self.rows(statement).await?;
        rows.iter()
            .map(|row| {
                let time: Instant = row.try_get("time")?;
                Ok(KeyValue {
                    key: row.try_get("key")?,
                    value: row.try_get("value")?,
                    time: time.0,
                })
            })
            .collect()
    }
}
