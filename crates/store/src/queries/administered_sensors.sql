select sensor_uuid, building_uuid, hub_uuid, name, kind, min_interval, meter_name, tariff, position,
       origin
from sensor
where $1 or building_uuid = $2
