-- The means of a sensor's ($2) values in the quarters that start at or after $3 and before $4. A
-- quarter that is marked is folded here and now, so that nothing stale is ever shown; one that is
-- open stays marked until it ends.
with marked as materialized (
    select start
    from touched_quarter
    where building_uuid = $1
      and start >= $3
      and start < $4
)
select kept.start, kept.mean
from value_quarter kept
where kept.building_uuid = $1
  and kept.sensor_id = $2
  and kept.start >= $3
  and kept.start < $4
  and not exists (select from marked where marked.start = kept.start)
union all
select marked.start, folded.mean
from marked
cross join lateral fold_values($1, marked.start) folded
where folded.sensor_id = $2
order by start
