select asked.uuid
from unnest($1::uuid[]) as asked (uuid)
where not exists (select from building where building.uuid = asked.uuid)
