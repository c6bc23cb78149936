-- The buildings of a batch that exist and are not disabled, locked against deletion until the batch
-- is committed.
select uuid, reported_sections
from building
where uuid = any($1)
  and not disabled
order by uuid
for key share
