update action
set status = new.status, ended_at = new.ended_at
from unnest($1::uuid[], $2::uuid[], $3::text[], $4::timestamptz[])
    new (building_uuid, action_uuid, status, ended_at)
where action.building_uuid = new.building_uuid and action.action_uuid = new.action_uuid
