-- The messages ($8) of which a reading differs in content from the one that was stored first.
select distinct again.message
from unnest(
    $1::uuid[], $2::timestamptz[], $3::bigint[], $4::timestamptz[],
    $5::integer[], $6::double precision[], $7::double precision[], $8::bigint[]
) as again (
    building_uuid, time, sensor_id, received_at, power_w, meter_reading, value, message
)
join sensor_reading stored using (building_uuid, time, sensor_id)
where (stored.power_w, stored.meter_reading, stored.value)
    is distinct from (again.power_w, again.meter_reading, again.value)
