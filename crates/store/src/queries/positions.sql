select topic, partition, next_offset
from log_position
join unnest($1::text[], $2::integer[]) as asked (topic, partition) using (topic, partition)
