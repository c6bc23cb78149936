-- Where the horizon is, what time the database has, whether anything from before $1 is still marked, and
-- the partition of the log that has been read least far by time, if there is any: of those in use ($2,
-- $3, $4), and of all that somebody has served since $5, in case another log is still being emptied. One
-- that nobody has begun counts as not read at all.
with used as (
    select topic, partition, read_through
    from log_position
    where served_at >= $5
    union all
    select asked.topic, asked.partition, position.read_through
    from unnest($3::text[], $4::integer[]) as asked (topic, partition)
    left join log_position position
      on position.cluster = $2 and position.topic = asked.topic and position.partition = asked.partition
), least_read as (
    select topic || '/' || partition as name, read_through
    from used
    order by read_through nulls first
    limit 1
)
select moment,
       clock_timestamp() as database_now,
       exists (select from touched_minute where start < $1)
           or exists (select from touched_quarter where start < $1)
           or exists (select from touched_day where start < $1) as marked,
       least_read.name as least_read,
       least_read.read_through
from raw_horizon
left join least_read on true
