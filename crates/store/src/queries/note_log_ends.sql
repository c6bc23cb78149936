-- How far partitions of the log $1 ($2, $3) have been read by time: each ended at $4 when it was looked
-- at, at $5. A position at the end means that all is stored which stood there then. One that is not there
-- yet remembers the end, and when it has come so far, however much was added meanwhile, all is stored
-- that stood there at that time. While a stretch of it is still to be read, not all is stored that lies
-- before the position. A position behind the end means that the log was made anew: nothing is
-- told of it. Run after the positions are locked, as a statement of its own: one that waits for a leap
-- here would see where the position is then, and not the stretch that came with it.
update log_position position
set served_at = $5,
    read_through = case
        when exists (
            select from log_stretch stretch
            where stretch.cluster = $1
              and stretch.topic = looked.topic
              and stretch.partition = looked.partition
        ) then read_through
        when next_offset = looked.end_offset then greatest(read_through, $5)
        when next_offset >= seen_end and next_offset < looked.end_offset
            then greatest(read_through, seen_end_at)
        else read_through
    end,
    seen_end = case when next_offset < seen_end then seen_end else looked.end_offset end,
    seen_end_at = case when next_offset < seen_end then seen_end_at else $5 end
from unnest($2::text[], $3::integer[], $4::bigint[]) as looked (topic, partition, end_offset)
where position.cluster = $1
  and position.topic = looked.topic
  and position.partition = looked.partition
