-- A disabled user is linked to nothing.
select uuid, name, timezone, consumption_compensated_curtailment
from membership
join app_user using (username)
join building on building.uuid = membership.building_uuid
where membership.username = $1
  and not app_user.disabled
order by name, uuid
