-- The states, and in the same statement the outbox for those with a new revision ($5). The notification
-- goes out with the commit, once for all of them.
with saved as (
    update control_state kept
    set revision = new.revision,
        issued_at = case when new.is_new then $6 else kept.issued_at end,
        state = new.state,
        due_at = new.due_at
    from unnest($1::uuid[], $2::bigint[], $3::jsonb[], $4::timestamptz[], $5::boolean[])
        new (building_uuid, revision, state, due_at, is_new)
    where kept.building_uuid = new.building_uuid
    returning kept.building_uuid, kept.revision, new.is_new
), queued as (
    insert into desired_outbox (building_uuid, revision)
    select building_uuid, revision from saved where is_new
    returning 1
)
select pg_notify('wattline_desired', '') from (select from queued limit 1) any_queued
