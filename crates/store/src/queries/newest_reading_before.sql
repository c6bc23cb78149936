-- When any of the sensors ($2, with the series of their virtual registers $3, null without one) was
-- last read before $4; null when none was. See first_meter_readings.sql.
with asked as materialized (
    select asked.sensor_id, asked.series, own.sensor_id is not null as sends_own
    from unnest($2::bigint[], $3::bigint[]) as asked (sensor_id, series)
    left join lateral (
        select sent.sensor_id
        from register_reading sent
        where sent.building_uuid = $1 and sent.sensor_id = asked.sensor_id
        order by sent.time
        limit 1
    ) own on true
)
select max(time) as time
from (
    select own.time
    from asked
    cross join lateral (
        select sent.time
        from register_reading sent
        where sent.building_uuid = $1
          and sent.sensor_id = asked.sensor_id
          and sent.time < $4
        order by sent.time desc
        limit 1
    ) own
    where asked.sends_own
    union all
    select minute.start
    from (select distinct series from asked where series is not null and not sends_own) virtual
    cross join lateral last_sampled_minute($1, virtual.series, '-infinity', $4) minute
) read
