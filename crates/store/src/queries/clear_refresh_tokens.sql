-- A part at a time; what another process is clearing or using is left to it.
delete from refresh_token
where jti in (
    select jti from refresh_token where expires_at <= $1 order by expires_at limit $2 for update skip locked
)
