-- Every building gets a revision that is $1 higher, with the same content, and has it published. In the
-- order in which control locks them.
with locked as (
    select building_uuid from control_state order by building_uuid for update
), ahead as (
    update control_state state
    set revision = state.revision + $1, issued_at = $2
    from locked
    where state.building_uuid = locked.building_uuid
    returning state.building_uuid, state.revision
), queued as (
    insert into desired_outbox (building_uuid, revision)
    select building_uuid, revision from ahead
    returning 1
), told as (
    select pg_notify('wattline_desired', '') from (select from queued limit 1) any_queued
)
select (select count(*) from queued), (select count(*) from told)
