-- The newest with this key that is still remembered ($4).
select action_uuid, body
from action
where building_uuid = $1 and username = $2 and idempotency_key = $3 and created_at > $4
order by created_at desc
limit 1
