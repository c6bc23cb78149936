-- Makes the quarter buckets of a building ($1) at these starts ($2) what their minutes make; answers how
-- many were not. A revision more only where something changed. Run after the mark, as a statement of its
-- own.
with wanted as (
    select asked.start, folded.*
    from unnest($2::timestamptz[]) as asked (start)
    cross join lateral fold_quarter($1, asked.start) folded
), gone as (
    delete from quarter_bucket kept
    using series_of($1) as of (series), unnest($2::timestamptz[]) as asked (start)
    where kept.building_uuid = $1
      and kept.series = of.series
      and kept.start = asked.start
      and not exists (
          select from wanted where wanted.series = kept.series and wanted.start = kept.start
      )
    returning kept.start
), put as (
    insert into quarter_bucket as kept (
        building_uuid, start, series, samples, positive_sum_w, negative_sum_w,
        first_at, last_at, last_power_w, covered_us, positive_energy_wus, negative_energy_wus
    )
    select $1, wanted.* from wanted
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
    where (kept.samples, kept.positive_sum_w, kept.negative_sum_w, kept.first_at, kept.last_at,
           kept.last_power_w, kept.covered_us, kept.positive_energy_wus, kept.negative_energy_wus)
        is distinct from
          (excluded.samples, excluded.positive_sum_w, excluded.negative_sum_w,
           excluded.first_at, excluded.last_at, excluded.last_power_w,
           excluded.covered_us, excluded.positive_energy_wus, excluded.negative_energy_wus)
    returning kept.start
)
select (select count(*) from gone) + (select count(*) from put)
