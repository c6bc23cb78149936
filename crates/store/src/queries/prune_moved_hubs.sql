-- Hubs ($1) that the fleet names in another building ($2): they are made anew there.
delete from sensor_hub hub
using unnest($1::uuid[], $2::uuid[]) as named (uuid, building_uuid)
where hub.uuid = named.uuid
  and hub.building_uuid <> named.building_uuid
