update dead_letter
set replayed_at = $1, outcome = done.outcome
from unnest($2::bigint[], $3::text[]) as done (id, outcome)
where dead_letter.id = done.id
