-- not_durable
-- Settings of the server, or of the role or database, by which a commit may be lost in a crash of the
-- server's process or of its machine, as this connection sees them.
select name || ' is ' || setting as setting
from pg_settings
where name in ('fsync', 'full_page_writes', 'synchronous_commit') and setting = 'off'
order by 1
