-- Adds up what each series has counted until the end of each day, from the first claimed day of its
-- building on: late data moves what comes after it. The power of a day's last sample holds until the
-- next day's first one, if that comes within 120 s. Answers what was moved.
with touched as (
    select building_uuid, min(start) as start
    from unnest($1::uuid[], $2::timestamptz[]) as claimed (building_uuid, start)
    group by building_uuid
), series as (
    -- What ever measured has a newest sample; few rows, where the days of a building are many.
    select latest.building_uuid, latest.series, touched.start
    from touched
    join latest_sample latest on latest.building_uuid = touched.building_uuid
), piece as (
    select base.building_uuid, base.series, base.start, base.last_at as first_at, base.last_at,
           base.last_power_w, base.positive_total_wus as positive_wus,
           base.negative_total_wus as negative_wus
    from series
    cross join lateral (
        select *
        from day_bucket day
        where day.building_uuid = series.building_uuid and day.series = series.series
          and day.start < series.start
        order by day.start desc
        limit 1
    ) base
    union all
    select day.building_uuid, day.series, day.start, day.first_at, day.last_at,
           day.last_power_w, day.positive_energy_wus, day.negative_energy_wus
    from series
    join day_bucket day
      on day.building_uuid = series.building_uuid and day.series = series.series
     and day.start >= series.start
), joined as (
    select piece.*,
           lag(last_power_w) over by_time as power_before_w,
           first_at - lag(last_at) over by_time as gap
    from piece
    window by_time as (partition by building_uuid, series order by start)
), held as (
    select joined.*,
           case when gap <= interval '120 seconds'
                then extract(epoch from gap) * 1000000
                else 0 end as held_us
    from joined
), total as (
    select building_uuid, series, start,
           sum(positive_wus + greatest(coalesce(power_before_w, 0)::numeric, 0) * held_us)
               over by_time as positive_wus,
           sum(negative_wus + greatest(-coalesce(power_before_w, 0)::numeric, 0) * held_us)
               over by_time as negative_wus
    from held
    window by_time as (partition by building_uuid, series order by start)
)
update day_bucket day
set positive_total_wus = total.positive_wus, negative_total_wus = total.negative_wus
from total
where day.building_uuid = total.building_uuid
  and day.series = total.series
  and day.start = total.start
  and (day.positive_total_wus, day.negative_total_wus)
      is distinct from (total.positive_wus, total.negative_wus)
returning day.series, day.start
