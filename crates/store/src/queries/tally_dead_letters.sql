select reason, building_uuid, count(*) as count, min(received_at) as first, max(received_at) as last
from dead_letter
where (replayed_at is not null) = $5
  and ($1::text is null or reason = $1)
  and ($2::uuid is null or building_uuid = $2)
  and ($3::timestamptz is null or received_at >= $3)
  and ($4::timestamptz is null or received_at < $4)
group by reason, building_uuid
order by reason, building_uuid
