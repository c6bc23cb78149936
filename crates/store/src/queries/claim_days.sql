-- Takes marks of days that have ended before $1, at most $2, but those that wait beyond $3. What is
-- marked again before this transaction commits waits for it, and stays marked.
delete from touched_day
where (building_uuid, start) in (
    select building_uuid, start
    from touched_day
    where start < $1
      and (not_before > $3) is not true
    order by start, building_uuid
    limit $2
    for update skip locked
)
returning building_uuid, start
