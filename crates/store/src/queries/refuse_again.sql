-- What replayed letters are refused for now, where that is something else. To binaries older than this the
-- reason is a part of a letter's identity; where they have kept two of one message, both stay as they are.
update dead_letter kept
set reason = again.reason, pointer = again.pointer, detail = again.detail
from unnest($1::bigint[], $2::text[], $3::text[], $4::text[]) as again (id, reason, pointer, detail)
where kept.id = again.id
  and (kept.reason, kept.pointer, kept.detail) is distinct from (again.reason, again.pointer, again.detail)
  and not exists (
      select from dead_letter other
      where other.content_sha256 = kept.content_sha256
        and other.received_at = kept.received_at
        and other.id <> kept.id
  )
