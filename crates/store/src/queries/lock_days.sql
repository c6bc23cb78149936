-- Makes processes that fold days of the same buildings wait for each other. The lock is one that
-- batches do not wait for.
select from building where uuid = any($1) order by uuid for no key update
