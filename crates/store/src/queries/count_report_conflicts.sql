-- How many of these duplicates differ in content from the report that was stored first.
select count(*)
from unnest(
    $1::uuid[], $2::timestamptz[], $3::timestamptz[], $4::bigint[], $5::text[]
) as again (building_uuid, time, received_at, revision, outcomes)
join report stored using (building_uuid, time)
where (stored.revision, stored.outcomes) is distinct from (again.revision, again.outcomes::jsonb)
