-- What a building measures with, and what each series measured last: as of one moment and in one
-- answer. First the sensors as in sensors_of.sql, then the series; what a row is not of is null.
select sensor.id, sensor.sensor_uuid, sensor.name, sensor.kind, sensor.min_interval,
       sensor.meter_name, sensor.tariff, sensor.origin,
       hub.uuid as hub_uuid, hub.name as hub_name, hub.kind as hub_kind,
       null::bigint as series, null::timestamptz as time, null::integer as power_w,
       sensor.position
from sensor
join sensor_hub hub on hub.uuid = sensor.hub_uuid
where sensor.building_uuid = $1
union all
select null, null, null, null, null, null, null, null, null, null, null,
       series, time, power_w, null
from latest_sample
where building_uuid = $1
order by origin, position, id, series
