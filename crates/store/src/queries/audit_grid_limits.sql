-- An entry for each of these occurrences of the building, in the order in which they were named; the
-- occurrences must be there.
insert into audit_entry (at, building_uuid, username, address, operation, subject, detail)
select $3, building_uuid, $4, $5, $6, grid_limit_uuid, json_build_object(
    'grid_limit_uuid', grid_limit_uuid,
    'start_time', extract(epoch from start_time)::bigint,
    'end_time', extract(epoch from end_time)::bigint,
    'delivery_limit_watts', delivery_limit_watts,
    'return_delivery_limit_watts', return_delivery_limit_watts
)
from grid_limit
where building_uuid = $1
  and grid_limit_uuid = any($2)
order by array_position($2, grid_limit_uuid)
