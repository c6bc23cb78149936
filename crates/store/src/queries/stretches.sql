select topic, partition, next_offset, end_offset
from log_stretch
join unnest($2::text[], $3::integer[]) as asked (topic, partition) using (topic, partition)
where cluster = $1
order by topic, partition, end_offset
