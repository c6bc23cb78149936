-- Of all who use a token at once, the first to lock its row changes it; the others find it used.
update refresh_token
set used_at = $3
where jti = $1
  and username = $2
  and used_at is null
  and expires_at > $3
