select topic, partition, next_offset
from log_position
join unnest($2::text[], $3::integer[]) as asked (topic, partition) using (topic, partition)
where cluster = $1
