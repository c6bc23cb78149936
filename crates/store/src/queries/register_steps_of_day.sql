-- What a building's ($1) registers read from $2 on and before $3, what they read before each, and what is
-- kept as having happened to them there. A row without a reading is an event of a reading that is not
-- there.
select sensor_id, time, own.reading, before.reading as reading_before,
       event.kind, event.reading_before as kept_before, event.reading_after as kept_after
from (
    select register.sensor_id, register.time, register.reading
    from sensor
    join register_reading register on register.building_uuid = $1 and register.sensor_id = sensor.id
    where sensor.building_uuid = $1 and register.time >= $2 and register.time < $3
) own
full join (
    select happened.*
    from sensor
    join register_event happened on happened.building_uuid = $1 and happened.sensor_id = sensor.id
    where sensor.building_uuid = $1 and happened.time >= $2 and happened.time < $3
) event using (sensor_id, time)
left join lateral (
    select stored.reading
    from register_reading stored
    where stored.building_uuid = $1 and stored.sensor_id = own.sensor_id and stored.time < own.time
    order by stored.time desc
    limit 1
) before on true
order by sensor_id, time
