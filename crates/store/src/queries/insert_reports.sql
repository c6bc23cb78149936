-- The first report of an identity wins; answers which ones were new.
insert into report (building_uuid, time, received_at, revision, outcomes)
select building_uuid, time, received_at, revision, outcomes::jsonb
from unnest(
    $1::uuid[], $2::timestamptz[], $3::timestamptz[], $4::bigint[], $5::text[]
) as new (building_uuid, time, received_at, revision, outcomes)
on conflict (building_uuid, time) do nothing
returning building_uuid, time
