-- A building that is no more keeps its row for a while, for a broker that forgets that it was told so.
-- Where somebody had begun to publish before (more than this one attempt), what that one has sent may
-- arrive yet: published again when it cannot any more ($5).
with published as (
    select * from unnest($1::uuid[], $2::bigint[]) new (building_uuid, revision)
), settled as (
    delete from desired_outbox where number = any($3)
), attempts as (
    delete from desired_attempt where building_uuid = any($1) returning building_uuid, attempts
), again as (
    insert into desired_outbox (building_uuid, revision, again, not_before)
    select building_uuid, 0, true, $5 from attempts where attempts > 1
)
update desired_publication kept
set revision = published.revision, published_at = $4
from published
where kept.building_uuid = published.building_uuid
