insert into refresh_token (jti, username, issued_at, expires_at) values ($1, $2, $3, $4)
