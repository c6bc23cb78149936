delete from sensor_hub
where uuid = $1
  and origin = 'fleet'
  and not exists (select from sensor where sensor.hub_uuid = sensor_hub.uuid)
