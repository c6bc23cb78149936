insert into membership (username, building_uuid, role)
values ($1, $2, $3)
on conflict (username, building_uuid) do update set role = excluded.role
