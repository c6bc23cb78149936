insert into register_reading (building_uuid, sensor_id, time, reading)
select * from unnest($1::uuid[], $2::bigint[], $3::timestamptz[], $4::double precision[])
on conflict (building_uuid, sensor_id, time) do nothing
