-- Of each new reading, and of the one that follows it, what the register read there and just before:
-- a reading that comes late stands between two that were neighbours.
with new as (
    select *
    from unnest($1::uuid[], $2::bigint[], $3::timestamptz[]) as new (building_uuid, sensor_id, time)
), affected as (
    select building_uuid, sensor_id, time from new
    union
    select new.building_uuid, new.sensor_id, following.time
    from new
    cross join lateral (
        select stored.time
        from register_reading stored
        where stored.building_uuid = new.building_uuid and stored.sensor_id = new.sensor_id
          and stored.time > new.time
        order by stored.time
        limit 1
    ) following
)
select building_uuid, sensor_id, time, own.reading, before.reading as reading_before
from affected
join register_reading own using (building_uuid, sensor_id, time)
left join lateral (
    select stored.reading
    from register_reading stored
    where stored.building_uuid = affected.building_uuid
      and stored.sensor_id = affected.sensor_id
      and stored.time < affected.time
    order by stored.time desc
    limit 1
) before on true
order by building_uuid, sensor_id, time
