-- The minutes of a building ($1) from $2 on and before $3, all of them ended, whose buckets are not what
-- their records make. In every committed state a minute that is not marked is right, so what one
-- statement sees to differ is wrong, whoever is at work; what is marked will be folded anyway.
with candidate as (
    select date_bin('1 minute', time, 'epoch') as start
    from telemetry_record
    where building_uuid = $1 and time >= $2 and time < $3
    union
    select date_bin('1 minute', time, 'epoch')
    from sensor_reading
    where building_uuid = $1 and time >= $2 and time < $3 and power_w is not null
    union
    select kept.start
    from series_of($1) as of (series)
    join minute_bucket kept on kept.building_uuid = $1 and kept.series = of.series
    where kept.start >= $2 and kept.start < $3
), settled as (
    select start
    from candidate
    where not exists (
        select from touched_minute touched
        where touched.building_uuid = $1 and touched.start = candidate.start
    )
), wanted as (
    select settled.start, folded.*
    from settled
    cross join lateral fold_minute($1, settled.start) folded
), kept as (
    select bucket.*
    from series_of($1) as of (series)
    join minute_bucket bucket on bucket.building_uuid = $1 and bucket.series = of.series
    join settled on settled.start = bucket.start
    where bucket.start >= $2 and bucket.start < $3
)
select distinct start
from wanted
full join kept using (start, series)
where (wanted.samples, wanted.positive_sum_w, wanted.negative_sum_w, wanted.first_at, wanted.last_at,
       wanted.last_power_w, wanted.covered_us, wanted.positive_energy_wus, wanted.negative_energy_wus)
    is distinct from
      (kept.samples, kept.positive_sum_w, kept.negative_sum_w, kept.first_at, kept.last_at,
       kept.last_power_w, kept.covered_us, kept.positive_energy_wus, kept.negative_energy_wus)
order by start
