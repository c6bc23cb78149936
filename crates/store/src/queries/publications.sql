-- The newest revision settles every row of the outbox that was there when it was read. A building that is no
-- more has no state. One whose rows are all settled meanwhile is nobody's concern any more.
select queued.building_uuid, queued.settles, queued.again, state.revision, state.issued_at, state.state
from (
    select building_uuid, max(number) as settles, bool_and(again) as again
    from desired_outbox
    where building_uuid = any($1)
    group by building_uuid
) queued
left join control_state state on state.building_uuid = queued.building_uuid
order by queued.settles
