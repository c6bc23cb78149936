-- Moves a key's newest registration forward, never back: the order of arrival does not matter.
insert into latest_key_value (building_uuid, key_sha256, time, key, value)
select building_uuid, key_sha256, time, key, value::jsonb
from unnest(
    $1::uuid[], $2::bytea[], $3::timestamptz[], $4::timestamptz[], $5::text[], $6::text[]
) as new (building_uuid, key_sha256, time, received_at, key, value)
on conflict (building_uuid, key_sha256) do update
set time = excluded.time, value = excluded.value
where excluded.time > latest_key_value.time
