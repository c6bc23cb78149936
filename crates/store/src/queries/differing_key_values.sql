-- The messages ($7) of which a registration differs from the one that was stored first.
select distinct again.message
from unnest(
    $1::uuid[], $2::bytea[], $3::timestamptz[], $4::timestamptz[], $5::text[], $6::text[],
    $7::bigint[]
) as again (building_uuid, key_sha256, time, received_at, key, value, message)
join key_value stored using (building_uuid, key_sha256, time)
where stored.value <> again.value::jsonb
