-- In the order of their receipt, behind the one that $6 and $7 name. Asked with its parameters known (not as
-- a prepared statement), so that each filter finds its index.
select id, reason, pointer, detail, source, building_uuid, received_at, replayed_at, outcome,
       octet_length(payload)::bigint as size
from dead_letter
where (replayed_at is not null) = $5
  and ($1::text is null or reason = $1)
  and ($2::uuid is null or building_uuid = $2)
  and ($3::timestamptz is null or received_at >= $3)
  and ($4::timestamptz is null or received_at < $4)
  and ($6::timestamptz is null or (received_at, id) > ($6, $7::bigint))
order by received_at, id
limit $8
