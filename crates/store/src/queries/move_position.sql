-- Compare-and-set: whoever does not know where the position stands cannot move it.
update log_position
set next_offset = moved.to_offset
from unnest($2::text[], $3::integer[], $4::bigint[], $5::bigint[])
    as moved (topic, partition, from_offset, to_offset)
where log_position.cluster = $1
  and log_position.topic = moved.topic
  and log_position.partition = moved.partition
  and log_position.next_offset = moved.from_offset
