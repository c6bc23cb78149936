-- In a statement of its own, begun when the control states were locked: so it sees what whoever held
-- them before has changed.
select uuid, consumption_compensated_curtailment, disabled from building where uuid = any($1)
