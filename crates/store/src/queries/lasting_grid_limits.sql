select building_uuid, grid_limit_uuid, start_time, end_time, delivery_limit_watts,
       return_delivery_limit_watts
from grid_limit
where building_uuid = any($1) and end_time > $2
