-- With the control state of their buildings; whoever is locked has someone else at work on it.
select report.building_uuid, report.time, report.received_at, report.revision as reported_revision,
       report.outcomes, state.revision, state.state, building.consumption_compensated_curtailment
from report
join control_state state on state.building_uuid = report.building_uuid
join building on building.uuid = report.building_uuid
where not report.handled
order by report.received_at
limit $1
for no key update of state, report skip locked
