with hub as (
    insert into sensor_hub (uuid, building_uuid, name, kind, position, origin)
    values ($2, $1, $3, $4, $7, 'service')
    on conflict (uuid) do nothing
)
insert into sensor (
    sensor_uuid, building_uuid, hub_uuid, name, kind, min_interval, position, origin
)
values ($5, $1, $2, initcap(replace($6, '_', ' ')), $6, 'minute', $7, 'service')
on conflict (sensor_uuid) do nothing
