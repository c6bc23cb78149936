select username, disabled,
       (
           select count(*)
           from membership
           where membership.username = app_user.username
       ) as buildings,
       (
           select count(*)
           from refresh_token token
           where token.username = app_user.username and token.used_at is null and token.expires_at > $1
       ) as outstanding_tokens
from app_user
order by username
