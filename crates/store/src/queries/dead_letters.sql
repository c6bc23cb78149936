select id, reason, pointer, detail, source, building_uuid, received_at,
       octet_length(payload)::bigint as size
from dead_letter
where ($1::text is null or reason = $1)
  and ($2::uuid is null or building_uuid = $2)
  and ($3::timestamptz is null or received_at >= $3)
  and ($4::timestamptz is null or received_at < $4)
  and id > $5
order by id
limit $6
