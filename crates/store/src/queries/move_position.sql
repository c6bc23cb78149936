-- Compare-and-set: whoever does not know where the position stands cannot move it.
update log_position
set next_offset = moved.to_offset
from unnest($1::text[], $2::integer[], $3::bigint[], $4::bigint[])
    as moved (topic, partition, from_offset, to_offset)
where log_position.topic = moved.topic
  and log_position.partition = moved.partition
  and log_position.next_offset = moved.from_offset
