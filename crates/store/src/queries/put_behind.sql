-- Turns these rows into one repetition for each building, behind all others and not before $2. The broker has
-- answered, so nothing is on its way.
with taken as (
    delete from desired_outbox where number = any($1) returning building_uuid, revision
), attempts as (
    delete from desired_attempt where building_uuid in (select building_uuid from taken)
)
insert into desired_outbox (building_uuid, revision, again, not_before)
select building_uuid, max(revision), true, $2 from taken group by building_uuid
