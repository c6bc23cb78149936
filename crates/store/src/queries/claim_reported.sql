-- Buildings whose controllers have reported something; whoever is locked has someone else at work on it.
select building_uuid, revision, issued_at, state
from control_state
where building_uuid in (select building_uuid from report where not handled and received_at <= $1)
  and building_uuid <> all($3::uuid[])
limit $2
for no key update skip locked
