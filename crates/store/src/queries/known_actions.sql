-- Those of some actions, each named with its building, that there are.
select building_uuid, action_uuid
from unnest($1::uuid[], $2::uuid[]) as named (building_uuid, action_uuid)
join action using (building_uuid, action_uuid)
