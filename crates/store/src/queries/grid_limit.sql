select grid_limit_uuid, start_time, end_time, delivery_limit_watts, return_delivery_limit_watts
from grid_limit
where building_uuid = $1
  and grid_limit_uuid = $2
