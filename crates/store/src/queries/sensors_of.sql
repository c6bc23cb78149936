select sensor.id, sensor.sensor_uuid, sensor.name, sensor.kind, sensor.min_interval,
       sensor.meter_name, sensor.tariff, sensor.origin,
       hub.uuid as hub_uuid, hub.name as hub_name, hub.kind as hub_kind
from sensor
join sensor_hub hub on hub.uuid = sensor.hub_uuid
where sensor.building_uuid = $1
order by sensor.origin, sensor.position, sensor.id
