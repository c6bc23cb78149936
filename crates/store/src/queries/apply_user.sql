insert into app_user (username, password_hash)
values ($1, $2)
on conflict (username) do update set password_hash = excluded.password_hash
