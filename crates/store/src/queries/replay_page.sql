-- The next letters to replay, in the order of their receipt: at most $8 of them and of $9 bytes, the first
-- however large it is. Bytes are counted without reading the payloads.
select id, received_at
from (
    select id, received_at,
           sum(bytes) over (order by received_at, id) as bytes,
           row_number() over (order by received_at, id) as place
    from (
        select id, received_at, octet_length(payload) as bytes
        from dead_letter
        where replayed_at is null
          and ($1::text is null or reason = $1)
          and ($2::uuid is null or building_uuid = $2)
          and ($3::timestamptz is null or received_at >= $3)
          and ($4::timestamptz is null or received_at < $4)
          and ($5::bigint[] is null or id = any($5))
          and ($6::timestamptz is null or (received_at, id) > ($6, $7::bigint))
        order by received_at, id
        limit $8
    ) next
) page
where bytes <= $9 or place = 1
order by received_at, id
