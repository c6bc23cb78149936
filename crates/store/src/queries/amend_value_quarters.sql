-- Makes the means of a building's ($1) quarters at these starts ($2) what their readings make; answers
-- how many were not.
with wanted as (
    select asked.start, folded.*
    from unnest($2::timestamptz[]) as asked (start)
    cross join lateral fold_values($1, asked.start) folded
), gone as (
    delete from value_quarter kept
    using series_of($1) as of (series), unnest($2::timestamptz[]) as asked (start)
    where kept.building_uuid = $1
      and kept.sensor_id = of.series
      and kept.start = asked.start
      and not exists (
          select from wanted where wanted.sensor_id = kept.sensor_id and wanted.start = kept.start
      )
    returning kept.start
), put as (
    insert into value_quarter as kept (building_uuid, start, sensor_id, samples, mean)
    select $1, wanted.* from wanted
    on conflict (building_uuid, sensor_id, start) do update
    set samples = excluded.samples, mean = excluded.mean, revision = kept.revision + 1
    where (kept.samples, kept.mean) is distinct from (excluded.samples, excluded.mean)
    returning kept.start
)
select (select count(*) from gone) + (select count(*) from put)
