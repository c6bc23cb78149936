-- Compare-and-set: whoever does not know how far a stretch is read cannot move it. One that is read to its
-- end is gone.
with moved as (
    select *
    from unnest($2::text[], $3::integer[], $4::bigint[], $5::bigint[], $6::bigint[])
        as moved (topic, partition, end_offset, from_offset, to_offset)
), gone as (
    delete from log_stretch stretch
    using moved
    where stretch.cluster = $1
      and stretch.topic = moved.topic
      and stretch.partition = moved.partition
      and stretch.end_offset = moved.end_offset
      and stretch.next_offset = moved.from_offset
      and moved.to_offset >= moved.end_offset
    returning 1
), left_over as (
    update log_stretch stretch
    set next_offset = moved.to_offset
    from moved
    where stretch.cluster = $1
      and stretch.topic = moved.topic
      and stretch.partition = moved.partition
      and stretch.end_offset = moved.end_offset
      and stretch.next_offset = moved.from_offset
      and moved.to_offset < moved.end_offset
    returning 1
)
select (select count(*) from gone) + (select count(*) from left_over) as moved
