-- The first registration of an identity wins; answers which ones were new.
insert into key_value (building_uuid, key_sha256, time, received_at, key, value)
select building_uuid, key_sha256, time, received_at, key, value::jsonb
from unnest(
    $1::uuid[], $2::bytea[], $3::timestamptz[], $4::timestamptz[], $5::text[], $6::text[]
) as new (building_uuid, key_sha256, time, received_at, key, value)
on conflict (building_uuid, key_sha256, time) do nothing
returning building_uuid, key_sha256, time
