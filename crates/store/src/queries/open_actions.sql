select building_uuid, action_uuid, revision, status, ended_at
from action
where building_uuid = any($1)
  and ended_at is null
  and status in ('accepted', 'published', 'delivered')
order by building_uuid, number
