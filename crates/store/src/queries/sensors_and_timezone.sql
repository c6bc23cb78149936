-- As sensors_of.sql, with the timezone of the building in every row; one row without a sensor where
-- it has none.
select building.timezone,
       sensor.id, sensor.sensor_uuid, sensor.name, sensor.kind, sensor.min_interval,
       sensor.meter_name, sensor.tariff, sensor.origin,
       hub.uuid as hub_uuid, hub.name as hub_name, hub.kind as hub_kind
from building
left join (
    sensor
    join sensor_hub hub on hub.uuid = sensor.hub_uuid
) on sensor.building_uuid = building.uuid
where building.uuid = $1
order by sensor.origin, sensor.position, sensor.id
