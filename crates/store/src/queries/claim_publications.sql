-- Whoever is locked is being published for by somebody else, who settles only what was read; what came
-- later is found again. A building of which something is due waits until that has happened; one that
-- is no more has no state.
select publication.building_uuid
from desired_publication publication
join (
    select building_uuid, bool_and(again) as again, min(number) as number
    from desired_outbox
    where (not_before > $2) is not true
    group by building_uuid
) queued on queued.building_uuid = publication.building_uuid
left join control_state state on state.building_uuid = publication.building_uuid
where (state.due_at <= $2) is not true
  and publication.building_uuid <> all($3::uuid[])
order by queued.again, queued.number
limit $1
for update of publication skip locked
