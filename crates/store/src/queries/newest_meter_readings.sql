-- Of each of the sensors ($2, with the series of their virtual registers $3, null without one) the
-- newest reading of its register: the meter's own, or of a sensor that never sent one the virtual
-- register at its last minute with a sample. See first_meter_readings.sql.
with asked as materialized (
    select asked.sensor_id, asked.series, own.time, own.reading
    from unnest($2::bigint[], $3::bigint[]) as asked (sensor_id, series)
    left join lateral (
        select sent.time, sent.reading
        from register_reading sent
        where sent.building_uuid = $1 and sent.sensor_id = asked.sensor_id
        order by sent.time desc
        limit 1
    ) own on true
), counted as materialized (
    select virtual.series, minute.start, before.positive_wus, before.negative_wus
    from (select distinct series from asked where series is not null and time is null) virtual
    cross join lateral last_sampled_minute($1, virtual.series, '-infinity', 'infinity') minute
    cross join lateral register_before($1, virtual.series, minute.start, minute.first_at) before
)
select sensor_id, time, reading, null as positive_wus, null as negative_wus
from asked
where time is not null
union all
select asked.sensor_id, counted.start, null,
       trunc(counted.positive_wus)::text, trunc(counted.negative_wus)::text
from asked
join counted on counted.series = asked.series
where asked.time is null
