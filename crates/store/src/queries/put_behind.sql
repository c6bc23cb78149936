-- Turns the rows of these buildings into one repetition each, behind all others.
with taken as (
    delete from desired_outbox where building_uuid = any($1) returning building_uuid, revision
)
insert into desired_outbox (building_uuid, revision, again)
select building_uuid, max(revision), true from taken group by building_uuid
