select building_uuid, revision, issued_at, state
from control_state
where building_uuid = $1
for no key update
