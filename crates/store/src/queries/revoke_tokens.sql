-- Blacklists outstanding tokens; of one that was used the moment of its use stays.
update refresh_token
set used_at = $3
where username = $1
  and ($2::uuid is null or jti = $2)
  and used_at is null
  and expires_at > $3
