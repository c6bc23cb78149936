//! Where the aggregator stands in the log, moved by compare-and-set in the data's transaction.

use crate::{Store, StoreFailure};
use sqlx::{PgConnection, Row};

/// The next offset to read of one partition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Position {
    /// Kafka topic.
    pub topic: String,
    /// Partition of the topic.
    pub partition: i32,
    /// Offset of the first message that is not in the database.
    pub next_offset: i64,
}

/// A position that moves with a batch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Move {
    /// Kafka topic.
    pub topic: String,
    /// Partition of the topic.
    pub partition: i32,
    /// Where the database must stand for the batch to be stored.
    pub from_offset: i64,
    /// Where it stands afterwards.
    pub to_offset: i64,
}

impl Store {
    /// The positions of the given partitions of the log that `cluster` names; one that was never read
    /// starts at 0.
    ///
    /// # Errors
    /// When the database does not take the statement.
    pub async fn positions(
        &self,
        cluster: &str,
        partitions: &[(String, i32)],
    ) -> Result<Vec<Position>, StoreFailure> {
        let topics: Vec<&str> = partitions.iter().map(|(topic, _)| topic.as_str()).collect();
        let numbers: Vec<i32> = partitions.iter().map(|(_, number)| *number).collect();
        sqlx::query(include_str!("queries/begin_positions.sql"))
            .bind(cluster)
            .bind(&topics)
            .bind(&numbers)
            .execute(&self.pool)
            .await?;
        let rows = sqlx::query(include_str!("queries/positions.sql"))
            .bind(cluster)
            .bind(&topics)
            .bind(&numbers)
            .fetch_all(&self.pool)
            .await?;
        rows.iter()
            .map(|row| {
                Ok(Position {
                    topic: row.try_get("topic")?,
                    partition: row.try_get("partition")?,
                    next_offset: row.try_get("next_offset")?,
                })
            })
            .collect()
    }
}

/// Moves the positions, in one order for all processes.
///
/// # Errors
/// [`StoreFailure::LostPosition`] when one of them is not where the caller believes it.
pub(crate) async fn advance(
    connection: &mut PgConnection,
    cluster: &str,
    moves: &[Move],
) -> Result<(), StoreFailure> {
    if moves.is_empty() {
        return Ok(());
    }
    let mut moves: Vec<&Move> = moves.iter().collect();
    moves.sort_by(|a, b| (&a.topic, a.partition).cmp(&(&b.topic, b.partition)));
    let topics: Vec<&str> = moves.iter().map(|it| it.topic.as_str()).collect();
    let partitions: Vec<i32> = moves.iter().map(|it| it.partition).collect();
    let from: Vec<i64> = moves.iter().map(|it| it.from_offset).collect();
    let to: Vec<i64> = moves.iter().map(|it| it.to_offset).collect();
    sqlx::query(include_str!("queries/lock_positions.sql"))
        .bind(cluster)
        .bind(&topics)
        .bind(&partitions)
        .execute(&mut *connection)
        .await?;
    let moved = sqlx::query(include_str!("queries/move_position.sql"))
        .bind(cluster)
        .bind(&topics)
        .bind(&partitions)
        .bind(&from)
        .bind(&to)
        .execute(&mut *connection)
        .await?
        .rows_affected();
    if moved == moves.len() as u64 {
        Ok(())
    } else {
        Err(StoreFailure::LostPosition)
    }
}
