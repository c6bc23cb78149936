-- See actions.sql.
select number, action_uuid, created_at, username, body::text as body, action.status, ended_at,
       steps.statuses, steps.times, steps.details
from action
cross join lateral (
    select array_agg(step.status order by step.number) as statuses,
           array_agg(step.at order by step.number) as times,
           array_agg(step.detail order by step.number) as details
    from action_step step
    where step.building_uuid = action.building_uuid and step.action_uuid = action.action_uuid
) steps
where building_uuid = $1
  and action_uuid = $2
