delete from membership where username = $1 and building_uuid <> all($2)
