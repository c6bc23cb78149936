-- The newest minute in which every one of the sections ($2) has a sample, and that starts at or
-- after $3 and before $4: a row a section. Marked minutes are folded here and now.
with marked as (
    select touched.start, folded.section, folded.samples,
           folded.positive_sum_w, folded.negative_sum_w
    from touched_minute touched
    cross join lateral fold_minute(touched.building_uuid, touched.start) folded
    where touched.building_uuid = $1
      and touched.start >= $3
      and touched.start < $4
      and folded.section = any($2)
), settled as (
    select kept.start
    from minute_bucket kept
    where kept.building_uuid = $1
      and kept.section = ($2::smallint[])[1]
      and kept.start >= $3
      and kept.start < $4
      and not exists (
          select from touched_minute touched
          where touched.building_uuid = $1 and touched.start = kept.start
      )
      and (
          select count(*)
          from minute_bucket other
          where other.building_uuid = $1
            and other.section = any($2)
            and other.start = kept.start
      ) = cardinality($2)
    order by kept.start desc
    limit 1
), newest as (
    select max(start) as start
    from (
        select start from settled
        union all
        select start from marked group by start having count(*) = cardinality($2)
    ) complete
)
select section, start, samples, positive_sum_w, negative_sum_w
from marked
where start = (select start from newest)
union all
select kept.section, kept.start, kept.samples, kept.positive_sum_w, kept.negative_sum_w
from minute_bucket kept
where kept.building_uuid = $1
  and kept.section = any($2)
  and kept.start = (select start from newest)
  and not exists (
      select from touched_minute touched
      where touched.building_uuid = $1 and touched.start = kept.start
  )
