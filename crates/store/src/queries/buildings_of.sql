-- Like admit.sql: a disabled user is linked to nothing, and a disabled building is not there.
select uuid, name, timezone, consumption_compensated_curtailment
from membership
join app_user using (username)
join building on building.uuid = membership.building_uuid
where membership.username = $1
  and not app_user.disabled
  and not building.disabled
order by name, uuid
