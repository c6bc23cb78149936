-- A partition that was never read starts at 0; one that was keeps its place.
insert into log_position (cluster, topic, partition, next_offset)
select $1, topic, partition, 0
from unnest($2::text[], $3::integer[]) as asked (topic, partition)
order by topic, partition
on conflict (cluster, topic, partition) do nothing
