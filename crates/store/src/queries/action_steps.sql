-- Of all actions of a page at once.
select action_uuid, status, at, detail
from action_step
where building_uuid = $1
  and action_uuid = any($2)
order by number
