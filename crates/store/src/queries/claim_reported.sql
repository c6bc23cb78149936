-- Buildings whose controllers have reported something; whoever is locked has someone else at work on it.
select state.building_uuid, state.revision, state.issued_at, state.state,
       building.consumption_compensated_curtailment
from control_state state
join building on building.uuid = state.building_uuid
where state.building_uuid in (
    select building_uuid from report where not handled and received_at <= $1
)
limit $2
for no key update of state skip locked
