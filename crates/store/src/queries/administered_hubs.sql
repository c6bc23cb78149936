select uuid, building_uuid, name, kind, position, origin
from sensor_hub
where $1 or building_uuid = $2
