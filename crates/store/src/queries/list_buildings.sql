select uuid, name, timezone, consumption_compensated_curtailment, disabled,
       (select count(*) from sensor where sensor.building_uuid = building.uuid) as sensors,
       (select count(*) from membership where membership.building_uuid = building.uuid) as users
from building
order by name, uuid
