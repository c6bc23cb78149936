-- Whether the server takes writes, and which statement of this process ($1 is its name) has waited for a lock
-- for two seconds or more: for which table, and who holds it. A session is told about those of its own role.
select
    pg_is_in_recovery() as standby,
    current_setting('transaction_read_only') = 'on' as read_only,
    waiting.seconds,
    waiting.relation,
    waiting.holders
from (select) always
left join lateral (
    select
        extract(epoch from clock_timestamp() - lock.waitstart)::float8 as seconds,
        lock.relation::regclass::text as relation,
        (
            select string_agg(
                holder.pid::text || coalesce(' (' || nullif(holder.application_name, '') || ')', ''), ', '
            )
            from pg_stat_activity holder
            where holder.pid = any (pg_blocking_pids(lock.pid))
        ) as holders
    from pg_locks lock
    join pg_stat_activity activity on activity.pid = lock.pid
    where not lock.granted
        and activity.application_name = $1
        and activity.datname = current_database()
        and lock.waitstart < clock_timestamp() - interval '2 seconds'
    order by lock.waitstart
    limit 1
) waiting on true
