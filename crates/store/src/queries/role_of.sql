select membership.role
from membership
join app_user using (username)
join building on building.uuid = membership.building_uuid
where membership.username = $1
  and membership.building_uuid = $2
  and not app_user.disabled
  and not building.disabled
