-- Marks of minutes that could not be folded are put back, and wait until $3.
insert into touched_minute (building_uuid, start, not_before)
select building_uuid, start, $3
from unnest($1::uuid[], $2::timestamptz[]) as aside (building_uuid, start)
on conflict (building_uuid, start) do update set not_before = excluded.not_before
