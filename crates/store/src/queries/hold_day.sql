-- Marks a day of a building, with the same lock as mark_minutes.sql; answers whether it was not marked:
-- then its bucket is what its quarters make, and nobody changes either while the mark is held.
insert into touched_day (building_uuid, start)
values ($1, $2)
on conflict (building_uuid, start) do update set start = excluded.start
returning xmax = 0 as settled
