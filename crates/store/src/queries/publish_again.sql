insert into desired_outbox (building_uuid, revision, again)
select building_uuid, revision, true from desired_publication where building_uuid = any($1)
