-- Like clear_refresh_tokens.sql. As long as the users of the last hours, so that no index is needed.
delete from request_budget
where username in (
    select username from request_budget where window_start < $1 limit $2 for update skip locked
)
