select number, action_uuid, created_at, username, body::text as body, status, ended_at
from action
where building_uuid = $1
  and action_uuid = $2
