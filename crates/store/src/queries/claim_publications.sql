-- Whoever is locked is being published for by somebody else, who settles only what it has read; what
-- came later is found again.
select publication.building_uuid
from desired_publication publication
where publication.building_uuid in (
    select queued.building_uuid
    from desired_outbox queued
    left join control_state state on state.building_uuid = queued.building_uuid
    -- Also a building that is no more; not one of which something is due.
    where (state.due_at <= $2) is not true
    order by queued.again, queued.number
    limit $1
)
for update of publication skip locked
