-- Whoever is locked is being published for by somebody else, who settles only what it has read; what
-- came later is found again.
select publication.building_uuid
from desired_publication publication
where publication.building_uuid in (
    select building_uuid from desired_outbox order by again, number limit $1
)
for update of publication skip locked
