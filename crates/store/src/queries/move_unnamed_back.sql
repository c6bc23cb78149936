-- Sensors that the fleet file does not name any more stand behind those that it names ($3 is the last
-- place of these), so that telemetry feeds the ones that it names.
update sensor
set position = $3 + behind.place
from (
    select sensor_uuid, row_number() over (order by position, id)::integer as place
    from sensor
    where building_uuid = $1 and origin = 'fleet' and sensor_uuid <> all($2)
) behind
where sensor.sensor_uuid = behind.sensor_uuid
  and sensor.position <> $3 + behind.place
