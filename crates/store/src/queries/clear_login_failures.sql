-- Like clear_refresh_tokens.sql.
delete from login_failure
where id in (
    select id from login_failure where failed_at <= $1 order by failed_at limit $2 for update skip locked
)
