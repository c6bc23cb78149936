-- The buildings of a batch that exist, locked against deletion until the batch is committed.
select uuid, reported_sections
from building
where uuid = any($1)
order by uuid
for key share
