select count(*)
from dead_letter
where replayed_at is null
  and ($1::text is null or reason = $1)
  and ($2::uuid is null or building_uuid = $2)
  and ($3::timestamptz is null or received_at >= $3)
  and ($4::timestamptz is null or received_at < $4)
  and ($5::bigint[] is null or id = any($5))
