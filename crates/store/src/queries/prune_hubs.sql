delete from sensor_hub where building_uuid = $1 and origin = 'fleet' and uuid <> all($2)
