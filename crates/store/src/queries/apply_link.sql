-- A link to a building that does not exist writes nothing, and the caller tells.
insert into membership (username, building_uuid, role)
select $1, uuid, $3
from building
where uuid = $2
on conflict (username, building_uuid) do update set role = excluded.role
