-- Of each series ($2) its newest minute with a sample that starts at or after $3 and before $4.
-- A minute that is marked is folded here and now, so that nothing stale is ever shown.
with marked as (
    select touched.start, folded.*
    from touched_minute touched
    cross join lateral fold_minute(touched.building_uuid, touched.start) folded
    where touched.building_uuid = $1
      and touched.start >= $3
      and touched.start < $4
), settled as (
    select bucket.*
    from unnest($2::bigint[]) as wanted (series)
    cross join lateral (
        select kept.series, kept.start, kept.samples, kept.positive_sum_w, kept.negative_sum_w
        from minute_bucket kept
        where kept.building_uuid = $1
          and kept.series = wanted.series
          and kept.start >= $3
          and kept.start < $4
          and not exists (
              select from touched_minute touched
              where touched.building_uuid = $1 and touched.start = kept.start
          )
        order by kept.start desc
        limit 1
    ) bucket
)
select distinct on (series) series, start, samples, positive_sum_w, negative_sum_w
from (
    select series, start, samples, positive_sum_w, negative_sum_w
    from marked
    where series = any($2)
    union all
    select series, start, samples, positive_sum_w, negative_sum_w
    from settled
) minute
order by series, start desc
