-- Marks quarters for folding, with the same lock as mark_minutes.sql.
insert into touched_quarter (building_uuid, start)
select * from unnest($1::uuid[], $2::timestamptz[])
on conflict (building_uuid, start) do update set start = excluded.start where false
