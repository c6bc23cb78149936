-- Numbered in the order in which they are given.
insert into action_step (building_uuid, action_uuid, status, at, detail)
select building_uuid, action_uuid, status, at, detail
from unnest($1::uuid[], $2::uuid[], $3::text[], $4::timestamptz[], $5::text[])
    with ordinality as new (building_uuid, action_uuid, status, at, detail, place)
order by place
