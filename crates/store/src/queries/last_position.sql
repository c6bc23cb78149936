-- The last place of a building's hubs and sensors that an operator named; they are numbered together.
select coalesce(max(position), 0) as last
from (
    select position from sensor_hub where building_uuid = $1 and origin = 'fleet'
    union all
    select position from sensor where building_uuid = $1 and origin = 'fleet'
) named
