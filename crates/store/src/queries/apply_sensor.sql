-- A sensor never changes its building: then nothing is written, and the caller tells.
insert into sensor (
    sensor_uuid, building_uuid, hub_uuid, name, kind, min_interval, meter_name, tariff, position,
    origin
)
values ($1, $2, $3, $4, $5, $6, $7, $8, $9, 'fleet')
on conflict (sensor_uuid) do update
set hub_uuid = excluded.hub_uuid,
    name = excluded.name,
    kind = excluded.kind,
    min_interval = excluded.min_interval,
    meter_name = excluded.meter_name,
    tariff = excluded.tariff,
    position = excluded.position,
    origin = 'fleet'
where sensor.building_uuid = excluded.building_uuid
