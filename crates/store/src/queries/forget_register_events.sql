delete from register_event
where (building_uuid, sensor_id, time)
    in (select * from unnest($1::uuid[], $2::bigint[], $3::timestamptz[]))
