-- Outstanding: neither used nor expired. Of all users when $1 is null.
select username, jti, issued_at, expires_at
from refresh_token
where ($1::text is null or username = $1)
  and used_at is null
  and expires_at > $2
order by username, issued_at, jti
