-- Writes the buckets of the claimed quarters; a revision more only where something changed.
-- Run after the claim, as a statement of its own, so that it sees every minute bucket marks' folds.
insert into quarter_bucket as kept (
    building_uuid, start, series, samples, positive_sum_w, negative_sum_w,
    first_at, last_at, last_power_w, covered_us, positive_energy_wus, negative_energy_wus
)
select claimed.building_uuid, claimed.start, folded.*
from unnest($1::uuid[], $2::timestamptz[]) as claimed (building_uuid, start)
cross join lateral fold_quarter(claimed.building_uuid, claimed.start) folded
on conflict (building_uuid, series, start) do update
set samples = excluded.samples,
    positive_sum_w = excluded.positive_sum_w,
    negative_sum_w = excluded.negative_sum_w,
    first_at = excluded.first_at,
    last_at = excluded.last_at,
    last_power_w = excluded.last_power_w,
    covered_us = excluded.covered_us,
    positive_energy_wus = excluded.positive_energy_wus,
    negative_energy_wus = excluded.negative_energy_wus,
    revision = kept.revision + 1
-- A quarter's records only ever grow in number, so the count tells whether anything changed. Fewer
-- would mean that some were deleted since; the bucket outlives them.
where kept.samples < excluded.samples
