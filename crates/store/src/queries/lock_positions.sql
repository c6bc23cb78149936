-- All processes lock in one order, so that two owners of a partition wait instead of deadlocking.
select next_offset
from log_position
join unnest($1::text[], $2::integer[]) as moved (topic, partition) using (topic, partition)
order by topic, partition
for update of log_position
