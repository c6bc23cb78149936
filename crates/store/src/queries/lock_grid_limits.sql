-- In one order, so that two requests with the same occurrences do not wait for each other forever.
-- Who waited for another deletion finds the occurrence gone.
select grid_limit_uuid, start_time
from grid_limit
where building_uuid = $1
  and grid_limit_uuid = any($2)
order by grid_limit_uuid
for update
