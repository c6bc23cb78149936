update report
set handled = true
where (building_uuid, time) in (select * from unnest($1::uuid[], $2::timestamptz[]))
