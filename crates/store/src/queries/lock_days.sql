-- Makes processes that fold days of the same buildings wait for each other, in one order. A lock of its
-- own, not that of the building's row: batches and administration hold that one while they wait for marks.
select pg_advisory_xact_lock(hashtextextended('day_bucket', 0) # hashtextextended(uuid::text, 0))
from (select uuid from unnest($1::uuid[]) as building (uuid) order by uuid) building
