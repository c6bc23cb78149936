-- A message has one letter, whatever it was refused for: read again from the log it has the same moment of
-- receipt. One that the broker says it may have delivered before ($10) has none if the same bytes of the same
-- topic are kept already. The limit keeps this one probe of the index for each, however many are kept.
-- In the order of arrival, which is the same for all who read the log, and that of the ids.
insert into dead_letter (
    building_uuid, reason, pointer, detail, source, received_at, traceparent, payload, content_sha256
)
select new.building_uuid, new.reason, new.pointer, new.detail, new.source, new.received_at,
       new.traceparent, new.payload, new.content_sha256
from unnest(
    $1::uuid[], $2::text[], $3::text[], $4::text[], $5::text[], $6::timestamptz[], $7::text[],
    $8::bytea[], $9::bytea[], $10::boolean[]
) with ordinality as new (
    building_uuid, reason, pointer, detail, source, received_at, traceparent, payload, content_sha256,
    redelivered, place
)
left join lateral (
    select true as found
    from dead_letter kept
    where kept.content_sha256 = new.content_sha256
      and (new.redelivered or kept.received_at = new.received_at)
    limit 1
) known on true
where known.found is null
order by new.place
on conflict (content_sha256, received_at, reason) do nothing
returning content_sha256, received_at
