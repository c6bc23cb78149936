-- The quarters of a building ($1) from $2 on and before $3, all of them ended, whose buckets are not what
-- their minutes make, or whose means are not what their readings make; the same as differing_minutes.sql.
with candidate as (
    select distinct date_bin('15 minutes', minute.start, 'epoch') as start
    from series_of($1) as of (series)
    join minute_bucket minute on minute.building_uuid = $1 and minute.series = of.series
    where minute.start >= $2 and minute.start < $3
    union
    select kept.start
    from series_of($1) as of (series)
    join quarter_bucket kept on kept.building_uuid = $1 and kept.series = of.series
    where kept.start >= $2 and kept.start < $3
    union
    select date_bin('15 minutes', time, 'epoch')
    from sensor_reading
    where building_uuid = $1 and time >= $2 and time < $3 and value is not null
    union
    select kept.start
    from series_of($1) as of (series)
    join value_quarter kept on kept.building_uuid = $1 and kept.sensor_id = of.series
    where kept.start >= $2 and kept.start < $3
), settled as (
    select start
    from candidate
    where not exists (
        select from touched_quarter touched
        where touched.building_uuid = $1 and touched.start = candidate.start
    )
), wanted as (
    select settled.start, folded.*
    from settled
    cross join lateral fold_quarter($1, settled.start) folded
), kept as (
    select bucket.*
    from series_of($1) as of (series)
    join quarter_bucket bucket on bucket.building_uuid = $1 and bucket.series = of.series
    join settled on settled.start = bucket.start
    where bucket.start >= $2 and bucket.start < $3
), wanted_value as (
    select settled.start, folded.*
    from settled
    cross join lateral fold_values($1, settled.start) folded
), kept_value as (
    select value.*
    from series_of($1) as of (series)
    join value_quarter value on value.building_uuid = $1 and value.sensor_id = of.series
    join settled on settled.start = value.start
    where value.start >= $2 and value.start < $3
)
select start
from wanted
full join kept using (start, series)
where (wanted.samples, wanted.positive_sum_w, wanted.negative_sum_w, wanted.first_at, wanted.last_at,
       wanted.last_power_w, wanted.covered_us, wanted.positive_energy_wus, wanted.negative_energy_wus)
    is distinct from
      (kept.samples, kept.positive_sum_w, kept.negative_sum_w, kept.first_at, kept.last_at,
       kept.last_power_w, kept.covered_us, kept.positive_energy_wus, kept.negative_energy_wus)
union
select start
from wanted_value
full join kept_value using (start, sensor_id)
where (wanted_value.samples, wanted_value.mean) is distinct from (kept_value.samples, kept_value.mean)
order by start
