-- From when on a building ($1) may have raw records, or buckets that are made of them: not before the
-- horizon; null when there is nothing.
select greatest(moment, first) as since
from raw_horizon
cross join (
    select least(
        (select min(time) from telemetry_record where building_uuid = $1),
        (select min(time) from sensor_reading where building_uuid = $1),
        (
            select min(oldest.start)
            from series_of($1) as of (series)
            cross join lateral (
                select start
                from minute_bucket
                where building_uuid = $1 and series = of.series
                order by start
                limit 1
            ) oldest
        )
    ) as first
) oldest
where first is not null
