insert into desired_outbox (building_uuid, revision, again)
select building_uuid, revision, true
from desired_publication
where published_at > $1
  and building_uuid not in (select building_uuid from desired_outbox)
