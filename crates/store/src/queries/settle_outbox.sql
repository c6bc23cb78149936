-- A building that is no more needs no row of its own any more.
with published as (
    select * from unnest($1::uuid[], $2::bigint[], $3::bigint[]) new (building_uuid, revision, settles)
), settled as (
    delete from desired_outbox queued
    using published
    where queued.building_uuid = published.building_uuid and queued.number <= published.settles
), gone as (
    delete from desired_publication kept
    using published
    where kept.building_uuid = published.building_uuid and published.revision = 0
)
update desired_publication kept
set revision = published.revision, published_at = $4
from published
where kept.building_uuid = published.building_uuid and published.revision > 0
