-- A report that came after $2 waits until it is that late: what is due until then comes first.
select building_uuid, time, received_at, revision, outcomes
from report
where not handled and building_uuid = any($1) and received_at <= $2
order by received_at, time
limit $3
