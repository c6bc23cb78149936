delete from sensor where building_uuid = $1 and origin = 'fleet' and sensor_uuid <> all($2)
