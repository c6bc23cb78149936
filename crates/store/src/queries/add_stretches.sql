-- Stretches that end where one ends already are that one, from the earlier of the two begins on.
insert into log_stretch as known (cluster, topic, partition, next_offset, end_offset)
select $1, topic, partition, next_offset, end_offset
from unnest($2::text[], $3::integer[], $4::bigint[], $5::bigint[])
    as wanted (topic, partition, next_offset, end_offset)
where next_offset < end_offset
order by topic, partition, end_offset
on conflict (cluster, topic, partition, end_offset)
do update set next_offset = least(known.next_offset, excluded.next_offset)
