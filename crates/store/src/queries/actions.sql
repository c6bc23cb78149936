-- One page of a building's actions, newest first, walked along the index from the one that ended the
-- page before ($2; null: from the newest). The steps of each stand beside it in the order of time, so
-- that all of it is as of one moment.
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
  and ($2::bigint is null or number < $2)
order by number desc
limit $3
