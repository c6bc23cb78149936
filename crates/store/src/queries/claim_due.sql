-- Whoever is locked has someone else at work on it, and is found again if that leaves anything due.
select building_uuid, revision, issued_at, state, due_at
from control_state
where due_at <= $1
  and building_uuid <> all($3::uuid[])
order by due_at
limit $2
for no key update skip locked
