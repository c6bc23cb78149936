select id, reason, pointer, detail, source, building_uuid, received_at, replayed_at, outcome, payload,
       octet_length(payload)::bigint as size
from dead_letter
where id = $1
