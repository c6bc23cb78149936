-- One page of a building's occurrences, walked along the index from the one that ended the page
-- before: the pair of start and uuid is unique, so none is skipped or comes twice, also where
-- several share a start.
select grid_limit_uuid, start_time, end_time, delivery_limit_watts, return_delivery_limit_watts
from grid_limit
where building_uuid = $1
  and (start_time, grid_limit_uuid) > ($2, $3)
  and start_time < $4
  and end_time > $5
order by start_time, grid_limit_uuid
limit $6
