-- Of each section ($2) its newest minute with a sample that starts at or after $3 and before $4.
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
    from unnest($2::smallint[]) as wanted (section)
    cross join lateral (
        select kept.section, kept.start, kept.samples, kept.positive_sum_w, kept.negative_sum_w
        from minute_bucket kept
        where kept.building_uuid = $1
          and kept.section = wanted.section
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
select distinct on (section) section, start, samples, positive_sum_w, negative_sum_w
from (
    select section, start, samples, positive_sum_w, negative_sum_w
    from marked
    where section = any($2)
    union all
    select section, start, samples, positive_sum_w, negative_sum_w
    from settled
) minute
order by section, start desc
