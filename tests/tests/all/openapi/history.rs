//! What the examples of meter readings, key-values, comfort, presence and actions tell, stored.

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
    let heard = "insert into presence select (it->>'uuid')::uuid, \
            to_timestamp((it->'presence'->>'since')::bigint), (it->'presence'->>'online')::boolean \
        from (select $1::jsonb as it) as example";
    insert(database, heard, &answered(contract, "readBuilding", "200")).await;
    let wished = "with it as (select $1::jsonb as it), taken as ( \
            insert into action (building_uuid, action_uuid, created_at, username, address, family, body, \
                revision, status) \
            select building.uuid, (it->>'action_uuid')::uuid, to_timestamp((it->>'created_at')::bigint), \
                it->>'username', '::1', 'battery', it->'action', 1, it->>'status' \
            from it, building where building.uuid in (select building_uuid from sensor) \
            returning * \
        ) insert into action_step (building_uuid, action_uuid, status, at, detail) \
        select building_uuid, action_uuid, step->>'status', to_timestamp((step->>'at')::bigint), \
            step->>'detail' \
        from taken, it, jsonb_array_elements(it->'history') with ordinality as of(step, place) \
        order by place";
    insert(database, wished, &answered(contract, "readAction", "200")).await;
}

async fn insert(database: &PgPool, statement: &str, example: &Value) {
    sqlx::query(statement)
        .bind(example.to_string())
        .execute(database)
        .await
        .unwrap();
}
