select membership.role
from membership
join app_user using (username)
where membership.username = $1
  and membership.building_uuid = $2
  and not app_user.disabled
