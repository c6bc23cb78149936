-- $10: the broker said that it may have delivered this message before; then a copy that is already
-- kept stays the only one. Read again from the log, a message has the same moment of receipt, and
-- the unique index keeps it once.
insert into dead_letter (
    building_uuid, reason, pointer, detail, source, received_at, traceparent, payload, content_sha256
)
select $1, $2, $3, $4, $5, $6, $7, $8, $9
where not $10 or not exists (
    select from dead_letter kept where kept.content_sha256 = $9 and kept.reason = $2
)
on conflict (content_sha256, received_at, reason) do nothing
