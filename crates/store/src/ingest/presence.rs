//! Whether controllers are connected: stored once by building and moment of receipt.

use crate::StoreFailure;
use crate::ingest::Ingested;
use crate::ingest::accepted::Accepted;
use crate::instant::Instant;
use sqlx::{PgConnection, Row};
use uuid::Uuid;

pub(super) async fn store(
    connection: &mut PgConnection,
    accepted: &Accepted<'_>,
    ingested: &mut Ingested,
) -> Result<(), StoreFailure> {
    for (incoming, online) in &accepted.presence {
        let identity = (incoming.building, Instant(incoming.letter.received_at));
        let (new, stored) = insert(connection, identity, *online).await?;
        ingested.count(incoming, new, stored != *online);
    }
    Ok(())
}

/// Whether the message is new, and what is stored of its identity. One by one: controllers come and
/// go rarely.
async fn insert(
    connection: &mut PgConnection,
    (building, received_at): (Uuid, Instant),
    online: bool,
) -> Result<(bool, bool), StoreFailure> {
    let row = sqlx::query(include_str!("../queries/insert_presence.sql"))
        .bind(building)
        .bind(received_at)
        .bind(online)
        .fetch_one(connection)
        .await?;
    Ok((row.try_get("new")?, row.try_get("online")?))
}
