-- Makes what a building's ($1) registers read from $2 on and before $3 what its stored readings say;
-- answers how many rows did not. Both are stored in one transaction, so one statement sees both or
-- neither.
with wanted as (
    select sensor_id, time, meter_reading as reading
    from sensor_reading
    where building_uuid = $1 and time >= $2 and time < $3 and meter_reading is not null
), gone as (
    delete from register_reading kept
    using sensor
    where sensor.building_uuid = $1
      and kept.building_uuid = $1
      and kept.sensor_id = sensor.id
      and kept.time >= $2 and kept.time < $3
      and not exists (
          select from wanted where wanted.sensor_id = kept.sensor_id and wanted.time = kept.time
      )
    returning kept.time
), put as (
    insert into register_reading as kept (building_uuid, sensor_id, time, reading)
    select $1, wanted.* from wanted
    on conflict (building_uuid, sensor_id, time) do update
    set reading = excluded.reading
    where kept.reading <> excluded.reading
    returning kept.time
)
select (select count(*) from gone) + (select count(*) from put)
