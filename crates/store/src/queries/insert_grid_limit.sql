-- Inserts nothing when the building is gone; the lock keeps it from going meanwhile.
insert into grid_limit (
    building_uuid, grid_limit_uuid, start_time, end_time,
    delivery_limit_watts, return_delivery_limit_watts
)
select uuid, $2, $3, $4, $5, $6
from building
where uuid = $1
for key share
