-- A partition that was never read starts at 0; one that was keeps its place.
insert into log_position (topic, partition, next_offset)
select topic, partition, 0
from unnest($1::text[], $2::integer[]) as asked (topic, partition)
order by topic, partition
on conflict (topic, partition) do nothing
