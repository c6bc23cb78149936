//! What the examples of meter readings, key-values and comfort tell, stored.

use super::answered;
use crate::contract::Contract;
use serde_json::Value;
use sqlx::PgPool;

/// Stores it in the building of the examples.
pub(super) async fn store(database: &PgPool, contract: &Contract) {
    for id in ["readMeterReadings", "readLatestMeterReadings"] {
        let readings = answered(contract, id, "200");
        let read = "insert into register_reading \
            select building_uuid, id, to_timestamp((it->>'datetime')::bigint), (it->>'value')::float8 \
            from jsonb_array_elements($1::jsonb) it \
            join sensor on sensor.sensor_uuid = (it->>'sensor_uuid')::uuid";
        insert(database, read, &readings).await;
    }
    let registered = "insert into latest_key_value \
        select building.uuid, sha256((it->>'key')::bytea), to_timestamp((it->>'datetime')::bigint), \
            it->>'key', it->'value' \
        from jsonb_array_elements($1::jsonb) it, building \
        where building.uuid in (select building_uuid from sensor)";
    let key_values = answered(contract, "readLatestKeyValues", "200");
    insert(database, registered, &key_values).await;
    let felt = "insert into value_quarter (building_uuid, sensor_id, start, samples, mean) \
        select building_uuid, id, to_timestamp((it->>'datetime')::bigint), 1, (it->>'value')::float8 \
        from jsonb_array_elements($1::jsonb->'values') it \
        join sensor on sensor.sensor_uuid = ($1::jsonb->>'sensor_uuid')::uuid";
    insert(database, felt, &answered(contract, "readComfortDay", "200")).await;
}

async fn insert(database: &PgPool, statement: &str, example: &Value) {
    sqlx::query(statement)
        .bind(example.to_string())
        .execute(database)
        .await
        .unwrap();
}
