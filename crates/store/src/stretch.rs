//! Stretches of the log that are read besides what comes in now.

use crate::position::{self, Move, Position};
use crate::{Store, StoreFailure};
use sqlx::{PgConnection, Row};

/// Messages of one partition that are still to be read.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Stretch {
    /// Kafka topic.
    pub topic: String,
    /// Partition of the topic.
    pub partition: i32,
    /// Offset of the first message behind it; names the stretch within its partition.
    pub end_offset: i64,
    /// Offset of the first message that is not read yet.
    pub next_offset: i64,
}

/// A stretch of which a batch has read some.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StretchMove {
    /// Which one, and where the database must stand for the batch to be stored.
    pub stretch: Stretch,
    /// Where it stands afterwards; at its end it is gone.
    pub to_offset: i64,
}

impl Store {
    /// The stretches of these partitions of the log that `cluster` names, by partition and end.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn stretches(
        &self,
        cluster: &str,
        partitions: &[(String, i32)],
    ) -> Result<Vec<Stretch>, StoreFailure> {
        let (topics, numbers): (Vec<&str>, Vec<i32>) = partitions
            .iter()
            .map(|(topic, number)| (topic.as_str(), *number))
            .unzip();
        let rows = sqlx::query(include_str!("queries/stretches.sql"))
            .bind(cluster)
            .bind(topics)
            .bind(numbers)
            .fetch_all(&self.pool)
            .await?;
        rows.iter()
            .map(|row| {
                Ok(Stretch {
                    topic: row.try_get("topic")?,
                    partition: row.try_get("partition")?,
                    end_offset: row.try_get("end_offset")?,
                    next_offset: row.try_get("next_offset")?,
                })
            })
            .collect()
    }

    /// Moves positions ahead, and leaves what they pass over as stretches.
    ///
    /// # Errors
    /// [`StoreFailure::LostPosition`] when one of them is not where the caller believes it.
    pub async fn leap(&self, cluster: &str, leaps: &[Move]) -> Result<(), StoreFailure> {
        let mut transaction = self.pool.begin().await?;
        position::advance(&mut transaction, cluster, leaps).await?;
        let stretches = leaps.iter().map(|leap| Stretch {
            topic: leap.topic.clone(),
            partition: leap.partition,
            end_offset: leap.to_offset,
            next_offset: leap.from_offset,
        });
        add(&mut transaction, cluster, &stretches.collect::<Vec<_>>()).await?;
        transaction.commit().await?;
        Ok(())
    }

    /// Has everything read again from these offsets on until where the positions stand; answers with what there
    /// is to read.
    ///
    /// # Errors
    /// When the database does not take it.
    pub async fn read_again(
        &self,
        cluster: &str,
        from: &[Position],
    ) -> Result<Vec<Stretch>, StoreFailure> {
        let partitions: Vec<(String, i32)> = from
            .iter()
            .map(|it| (it.topic.clone(), it.partition))
            .collect();
        let positions = self.positions(cluster, &partitions).await?;
        let mut stretches = Vec::new();
        for position in positions {
            let same =
                |it: &&Position| it.topic == position.topic && it.partition == position.partition;
            let begin = from.iter().find(same).map(|it| it.next_offset);
            if let Some(next_offset) = begin.filter(|it| *it < position.next_offset) {
                stretches.push(Stretch {
                    topic: position.topic,
                    partition: position.partition,
                    end_offset: position.next_offset,
                    next_offset,
                });
            }
        }
        let mut connection = self.pool.acquire().await?;
        add(&mut connection, cluster, &stretches).await?;
        Ok(stretches)
    }
}

async fn add(
    connection: &mut PgConnection,
    cluster: &str,
    stretches: &[Stretch],
) -> Result<(), StoreFailure> {
    let columns = Columns::of(stretches.iter());
    sqlx::query(include_str!("queries/add_stretches.sql"))
        .bind(cluster)
        .bind(&columns.topics)
        .bind(&columns.partitions)
        .bind(&columns.next)
        .bind(&columns.ends)
        .execute(connection)
        .await?;
    Ok(())
}

/// Moves stretches.
///
/// # Errors
/// [`StoreFailure::LostPosition`] when one of them is not where the caller believes it.
pub(crate) async fn advance(
    connection: &mut PgConnection,
    cluster: &str,
    moves: &[StretchMove],
) -> Result<(), StoreFailure> {
    if moves.is_empty() {
        return Ok(());
    }
    let columns = Columns::of(moves.iter().map(|it| &it.stretch));
    let to: Vec<i64> = moves.iter().map(|it| it.to_offset).collect();
    sqlx::query(include_str!("queries/lock_stretches.sql"))
        .bind(cluster)
        .bind(&columns.topics)
        .bind(&columns.partitions)
        .bind(&columns.ends)
        .execute(&mut *connection)
        .await?;
    let moved: i64 = sqlx::query(include_str!("queries/move_stretches.sql"))
        .bind(cluster)
        .bind(&columns.topics)
        .bind(&columns.partitions)
        .bind(&columns.ends)
        .bind(&columns.next)
        .bind(&to)
        .fetch_one(&mut *connection)
        .await?
        .try_get("moved")?;
    if usize::try_from(moved) == Ok(moves.len()) {
        Ok(())
    } else {
        Err(StoreFailure::LostPosition)
    }
}

#[derive(Default)]
struct Columns<'a> {
    topics: Vec<&'a str>,
    partitions: Vec<i32>,
    ends: Vec<i64>,
    next: Vec<i64>,
}

impl<'a> Columns<'a> {
    fn of(stretches: impl Iterator<Item = &'a Stretch>) -> Self {
        let mut columns = Self::default();
        for stretch in stretches {
            columns.topics.push(&stretch.topic);
            columns.partitions.push(stretch.partition);
            columns.ends.push(stretch.end_offset);
            columns.next.push(stretch.next_offset);
        }
        columns
    }
}
