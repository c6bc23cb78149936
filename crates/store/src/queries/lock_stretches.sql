-- All processes lock in one order, so that two readers of a stretch wait instead of deadlocking.
select next_offset
from log_stretch
join unnest($2::text[], $3::integer[], $4::bigint[]) as moved (topic, partition, end_offset)
    using (topic, partition, end_offset)
where cluster = $1
order by topic, partition, end_offset
for update of log_stretch
