-- A hub never changes its building: then nothing is written, and the caller tells.
insert into sensor_hub (uuid, building_uuid, name, kind, position, origin)
values ($1, $2, $3, $4, $5, 'fleet')
on conflict (uuid) do update
set name = excluded.name, kind = excluded.kind, position = excluded.position, origin = 'fleet'
where sensor_hub.building_uuid = excluded.building_uuid
