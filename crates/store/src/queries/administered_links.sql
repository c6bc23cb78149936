select username, building_uuid, role
from membership
where $1 or building_uuid = $2 or username = $3
