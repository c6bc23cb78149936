select building_uuid, action_uuid, status, ended_at
from action
where (building_uuid, action_uuid) in (select * from unnest($1::uuid[], $2::uuid[]))
