-- Hubs of the service that have no sensor any more.
delete from sensor_hub hub
where hub.building_uuid = $1
  and hub.origin = 'service'
  and not exists (select from sensor where sensor.hub_uuid = hub.uuid)
