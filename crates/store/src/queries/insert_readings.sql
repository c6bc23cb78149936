-- The first reading of an identity wins; answers which ones were new.
insert into sensor_reading (
    building_uuid, time, sensor_id, received_at, power_w, meter_reading, value
)
select *
from unnest(
    $1::uuid[], $2::timestamptz[], $3::bigint[], $4::timestamptz[],
    $5::integer[], $6::double precision[], $7::double precision[]
)
on conflict (building_uuid, time, sensor_id) do nothing
returning building_uuid, time, sensor_id
