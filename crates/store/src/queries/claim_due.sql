-- Whoever is locked has someone else at work on it, and is found again if that leaves anything due.
select state.building_uuid, state.revision, state.issued_at, state.state, state.due_at,
       building.consumption_compensated_curtailment
from control_state state
join building on building.uuid = state.building_uuid
where state.due_at <= $1
order by state.due_at
limit $2
for no key update of state skip locked
