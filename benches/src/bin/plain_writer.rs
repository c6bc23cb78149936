//! `plain_writer`: an aggregator's stand-in made of client libraries alone: what Kafka has goes into one table, as it is, in
//! batches, without identity, buckets or registers. It shows what a contender in the aggregator's place does.

use benches::{Outcome, figures, told};
use futures_util::StreamExt as _;
use rdkafka::consumer::{CommitMode, Consumer as _, StreamConsumer};
use rdkafka::{ClientConfig, Message as _};
use serde_json::Value;
use sqlx::types::Json;
use sqlx::{Connection as _, PgConnection};
use std::process::ExitCode;

/// Records of one statement, at most.
const BATCH: usize = 1_000;

#[tokio::main]
async fn main() -> ExitCode {
    figures::end("plain_writer", run().await.map(|()| true))
}

async fn run() -> Outcome<()> {
    let mut database = PgConnection::connect(&told("BENCH_DATABASE_URL")?).await?;
    let insert = format!(
        "insert into {} (time, building, record) \
         select to_timestamp((record->>'time')::float8), building, record \
         from unnest($1::text[], $2::jsonb[]) as batch (building, record)",
        told("BENCH_DATABASE_TABLE")?
    );
    let consumer: StreamConsumer = ClientConfig::new()
        .set("bootstrap.servers", told("BENCH_KAFKA_BROKERS")?)
        .set("group.id", "plain-writer")
        .set("auto.offset.reset", "earliest")
        .set("enable.auto.commit", "false")
        .create()?;
    consumer.subscribe(&[&told("BENCH_KAFKA_TOPIC")?])?;
    let mut batches = consumer.stream().ready_chunks(BATCH);
    while let Some(batch) = batches.next().await {
        let (mut buildings, mut records) = (Vec::new(), Vec::new());
        for message in batch {
            let message = message?;
            let key = message.key().unwrap_or_default();
            buildings.push(String::from_utf8_lossy(key).into_owned());
            let payload = message.payload().unwrap_or_default();
            records.push(Json(serde_json::from_slice::<Value>(payload)?));
        }
        sqlx::query(&insert)
            .bind(buildings)
            .bind(records)
            .execute(&mut database)
            .await?;
        consumer.commit_consumer_state(CommitMode::Async)?;
    }
    Ok(())
}
