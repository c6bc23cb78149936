-- The first message of a moment wins; answers whether this is it, and what is stored.
with inserted as (
    insert into presence (building_uuid, received_at, online)
    values ($1, $2, $3)
    on conflict (building_uuid, received_at) do nothing
    returning online
)
select true as new, online from inserted
union all
-- Seen as of before the insert, so only what was there already.
select false, online from presence where building_uuid = $1 and received_at = $2
limit 1
