-- Writes the means of the claimed quarters; a revision more only where something changed.
insert into value_quarter as kept (building_uuid, start, sensor_id, samples, mean)
select claimed.building_uuid, claimed.start, folded.*
from unnest($1::uuid[], $2::timestamptz[]) as claimed (building_uuid, start)
cross join lateral fold_values(claimed.building_uuid, claimed.start) folded
on conflict (building_uuid, sensor_id, start) do update
set samples = excluded.samples,
    mean = excluded.mean,
    revision = kept.revision + 1
-- A quarter's readings only ever grow in number, so the count tells whether anything changed. Fewer
-- would mean that some were deleted since; the bucket outlives them.
where kept.samples < excluded.samples
