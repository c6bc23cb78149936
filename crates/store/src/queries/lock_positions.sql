-- All processes lock in one order, so that two owners of a partition wait instead of deadlocking.
select next_offset
from log_position
join unnest($2::text[], $3::integer[]) as moved (topic, partition) using (topic, partition)
where cluster = $1
order by topic, partition
for update of log_position
