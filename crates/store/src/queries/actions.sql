-- One page of a building's actions, newest first, walked along the index from the one that ended the
-- page before ($2; null: from the newest).
select number, action_uuid, created_at, username, body::text as body, status, ended_at
from action
where building_uuid = $1
  and ($2::bigint is null or number < $2)
order by number desc
limit $3
