-- The newest minute in which every one of the series ($2) has a sample, and that starts at or
-- after $3 and before $4: a row a series. Marked minutes are folded here and now.
--
-- Series are led to a common minute by leaps: of each the newest minute at or before the bound is
-- one probe of the index, the oldest of these is the next bound, and a bound that all of them have is
-- the answer. So the cost follows the gaps between the series, never the length of the history.
with recursive marked as materialized (
    select touched.start, folded.series, folded.samples,
           folded.positive_sum_w, folded.negative_sum_w
    from touched_minute touched
    cross join lateral fold_minute(touched.building_uuid, touched.start) folded
    where touched.building_uuid = $1
      and touched.start >= $3
      and touched.start < $4
      and folded.series = any($2)
), leap (bound, common) as (
    -- No minute starts a microsecond before the end, so the first bound is never the answer.
    select $4 - interval '1 microsecond', false
    union all
    select next.start, next.start = leap.bound
    from leap
    cross join lateral (
        select min(newest.start) as start, count(newest.start) as wanted_series
        from unnest($2::bigint[]) as wanted (series)
        cross join lateral (
            select greatest(
                (
                    select kept.start
                    from minute_bucket kept
                    where kept.building_uuid = $1
                      and kept.series = wanted.series
                      and kept.start >= $3
                      and kept.start <= leap.bound
                      and not exists (
                          select from touched_minute touched
                          where touched.building_uuid = $1 and touched.start = kept.start
                      )
                    order by kept.start desc
                    limit 1
                ),
                (
                    select max(marked.start)
                    from marked
                    where marked.series = wanted.series and marked.start <= leap.bound
                )
            ) as start
        ) newest
    ) next
    where not leap.common
      and next.wanted_series = cardinality($2)
), newest as (
    select bound as start from leap where common
)
select series, start, samples, positive_sum_w, negative_sum_w
from marked
where start = (select start from newest)
union all
select kept.series, kept.start, kept.samples, kept.positive_sum_w, kept.negative_sum_w
from minute_bucket kept
where kept.building_uuid = $1
  and kept.series = any($2)
  and kept.start = (select start from newest)
  and not exists (
      select from touched_minute touched
      where touched.building_uuid = $1 and touched.start = kept.start
  )
