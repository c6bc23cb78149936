-- Of each of the sensors ($2, with the series of their virtual registers $3, null without one) the
-- first reading of its register at or after $4 and before $5: the meter's own, or of a sensor that
-- never sent one the virtual register at its first minute with a sample.
--
-- A series is read once for both directions, by two sensors. The probe for an own reading is a join
-- with a limit of its own: the planner may make a hash of an `exists`, and read a whole history for it.
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
), counted as materialized (
    select virtual.series, minute.start, before.positive_wus, before.negative_wus
    from (select distinct series from asked where series is not null and not sends_own) virtual
    cross join lateral first_sampled_minute($1, virtual.series, $4, $5) minute
    cross join lateral register_before($1, virtual.series, minute.start, minute.first_at) before
)
select asked.sensor_id, own.time, own.reading, null as positive_wus, null as negative_wus
from asked
cross join lateral (
    select sent.time, sent.reading
    from register_reading sent
    where sent.building_uuid = $1
      and sent.sensor_id = asked.sensor_id
      and sent.time >= $4
      and sent.time < $5
    order by sent.time
    limit 1
) own
where asked.sends_own
union all
-- Whole numbers, as text: numeric has no other way that every client library knows.
select asked.sensor_id, counted.start, null,
       trunc(counted.positive_wus)::text, trunc(counted.negative_wus)::text
from asked
join counted on counted.series = asked.series
where not asked.sends_own
