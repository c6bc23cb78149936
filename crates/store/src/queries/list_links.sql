select username, building_uuid, role
from membership
where ($1::text is null or username = $1)
  and ($2::uuid is null or building_uuid = $2)
order by username, building_uuid
