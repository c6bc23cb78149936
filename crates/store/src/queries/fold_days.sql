-- Writes what the claimed days measured; their totals follow (total_days.sql).
-- Run after the lock, as a statement of its own, so that it sees every quarter of the marks' folds.
insert into day_bucket as kept (
    building_uuid, start, series, samples, first_at, last_at, last_power_w,
    covered_us, positive_energy_wus, negative_energy_wus
)
select claimed.building_uuid, claimed.start, folded.*
from unnest($1::uuid[], $2::timestamptz[]) as claimed (building_uuid, start)
cross join lateral fold_day(claimed.building_uuid, claimed.start) folded
on conflict (building_uuid, series, start) do update
set samples = excluded.samples,
    first_at = excluded.first_at,
    last_at = excluded.last_at,
    last_power_w = excluded.last_power_w,
    covered_us = excluded.covered_us,
    positive_energy_wus = excluded.positive_energy_wus,
    negative_energy_wus = excluded.negative_energy_wus
-- A day's records only ever grow in number, so the count tells whether anything changed. Fewer
-- would mean that some were deleted since; the bucket outlives them.
where kept.samples < excluded.samples
