insert into building (uuid, name, timezone, consumption_compensated_curtailment)
values ($1, $2, $3, $4)
on conflict (uuid) do update
set name = excluded.name,
    timezone = excluded.timezone,
    consumption_compensated_curtailment = excluded.consumption_compensated_curtailment
