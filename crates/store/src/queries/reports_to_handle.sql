select building_uuid, time, received_at, revision, outcomes
from report
where not handled and building_uuid = any($1)
order by received_at, time
limit $2
