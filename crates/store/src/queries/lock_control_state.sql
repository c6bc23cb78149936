-- A disabled building is none to its users; what was wished before ends all the same.
select state.building_uuid, state.revision, state.issued_at, state.state,
       building.consumption_compensated_curtailment
from control_state state
join building on building.uuid = state.building_uuid
where state.building_uuid = $1 and not building.disabled
for no key update of state
