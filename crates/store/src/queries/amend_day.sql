-- Makes the day buckets of a building ($1) at this start ($2) what their quarters make; answers which
-- series were not right. Their totals follow (total_days.sql).
with wanted as (
    select * from fold_day($1, $2)
), gone as (
    delete from day_bucket kept
    using series_of($1) as of (series)
    where kept.building_uuid = $1
      and kept.series = of.series
      and kept.start = $2
      and not exists (select from wanted where wanted.series = kept.series)
    returning kept.series
), put as (
    insert into day_bucket as kept (
        building_uuid, start, series, samples, first_at, last_at, last_power_w,
        covered_us, positive_energy_wus, negative_energy_wus
    )
    select $1, $2, wanted.* from wanted
    on conflict (building_uuid, series, start) do update
    set samples = excluded.samples,
        first_at = excluded.first_at,
        last_at = excluded.last_at,
        last_power_w = excluded.last_power_w,
        covered_us = excluded.covered_us,
        positive_energy_wus = excluded.positive_energy_wus,
        negative_energy_wus = excluded.negative_energy_wus
    where (kept.samples, kept.first_at, kept.last_at, kept.last_power_w,
           kept.covered_us, kept.positive_energy_wus, kept.negative_energy_wus)
        is distinct from
          (excluded.samples, excluded.first_at, excluded.last_at, excluded.last_power_w,
           excluded.covered_us, excluded.positive_energy_wus, excluded.negative_energy_wus)
    returning kept.series
)
select series from gone
union all
select series from put
